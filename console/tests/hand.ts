import { AxeBuilder } from '@axe-core/playwright'
import { expect, test as base, type Page } from '@playwright/test'

export const OWN_PASSWORD = 'correct horse battery'

export const admin = (): string => process.env['ADMIN'] ?? ''

/** A page on which nothing may be complained of in the browser's console. */
export const test = base.extend<{ complaints: string[] }>({
  // eslint-disable-next-line no-empty-pattern -- fixtures are told apart by their first argument
  baseURL: async ({}, use) => use(admin()),
  complaints: [
    async ({ page }, use) => {
      const complaints: string[] = []
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
      })
      page.on('pageerror', (error) => complaints.push(String(error)))
      await use(complaints)
      expect(complaints).toEqual([])
    },
    { auto: true },
  ],
})

export { expect }

/** What the browser itself says of one answer of the server that is not a success: that is expected, and everything else is not. */
export function expectAnswer(complaints: string[], status: number): void {
  expect(complaints.splice(0)).toEqual([expect.stringMatching(new RegExp(`^Failed to load resource: the server responded with a status of ${status} `))])
}

/** Makes sure that the first password has been changed, by whichever test comes first. */
export async function settle(): Promise<void> {
  const ask = async (method: string, path: string, body: unknown, token = ''): Promise<Response> =>
    fetch(`${admin()}${path}`, { method, headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) }, body: JSON.stringify(body) })
  const first = await ask('POST', '/api/v1/login', { username: 'admin', password: process.env['PASSWORD'] })
  if (!first.ok) return
  const { access_token } = (await first.json()) as { access_token: string }
  expect((await ask('PUT', '/api/v1/me/password', { current: process.env['PASSWORD'], new: OWN_PASSWORD }, access_token)).status).toBe(200)
}

/** What a chart tells those who cannot see it: the latest number of each curve. */
export async function charted(page: Page, chart: string): Promise<Record<string, number>> {
  const told = (await page.getByTestId(chart).getAttribute('aria-label')) ?? ''
  const numbers = [...told.matchAll(/(Passed|Refused|Would be refused) ([\d,.]+)/g)]
  return Object.fromEntries(numbers.map(([, name, number]) => [name, Number(number?.replaceAll(',', ''))]))
}

export async function login(page: Page, name = 'admin', password = OWN_PASSWORD): Promise<void> {
  await page.goto('/login')
  await page.locator('input[name=username]').fill(name)
  await page.locator('input[name=password]').fill(password)
  const answered = page.waitForResponse((response) => response.url().endsWith('/api/v1/login'))
  await page.locator('button[type=submit]').click()
  // Whoever leaves before the page has heard of its session has none.
  if ((await answered).ok()) await page.waitForURL((url) => url.pathname !== '/login', { waitUntil: 'commit' })
}

/** Waits until numbers come in. */
export async function isLive(page: Page): Promise<void> {
  await expect(page.getByTestId('live-state')).toHaveText(/Live|实时/)
}

export async function isAccessible(page: Page, where: string): Promise<void> {
  const found = await new AxeBuilder({ page }).analyze()
  const told = found.violations.map(({ id, nodes }) => ({ where, id, nodes: nodes.map((node) => node.target.join(' ')).slice(0, 5), why: nodes[0]?.failureSummary?.slice(0, 300) }))
  expect.soft(told).toEqual([])
}

/** Asks the API, with a token of its own. */
export async function api(name = 'admin', password = OWN_PASSWORD) {
  const login = await fetch(`${admin()}/api/v1/login`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ username: name, password }) })
  const { access_token } = (await login.json()) as { access_token: string }
  return async (method: string, path: string, body?: unknown): Promise<Response> =>
    fetch(`${admin()}${path}`, { method, headers: { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' }, body: body === undefined ? null : JSON.stringify(body) })
}

/** Sends requests of an application through the gateway; how many were refused. */
export async function traffic(app: string, count: number): Promise<number> {
  let refused = 0
  for (let n = 0; n < count; n++) {
    const response = await fetch(`${process.env['GATEWAY'] ?? ''}/photos/cat.jpg`, { headers: { 'x-tollgate-app': app } })
    await response.arrayBuffer()
    if (response.status === 429) refused++
  }
  return refused
}
