import type { Browser, Page } from '@playwright/test'
import { expect, isLive, login, test, traffic } from '../hand'

/** What a task of the main thread may take at most, in milliseconds. */
const MOST = 200

interface TraceEvent { name: string; ph: string; pid: number; tid: number; dur?: number; args: { name?: string } }

/** The longest task of any page's main thread while something is done, by the browser's own trace, in milliseconds. */
async function longest(browser: Browser, page: Page, run: () => Promise<void>): Promise<number> {
  await browser.startTracing(page, { categories: ['toplevel', 'devtools.timeline', 'disabled-by-default-devtools.timeline', '__metadata'] })
  await run()
  const trace = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] }
  const main = new Set(trace.traceEvents.filter((event) => event.name === 'thread_name' && event.args.name === 'CrRendererMain').map((event) => `${event.pid}/${event.tid}`))
  const tasks = trace.traceEvents.filter((event) => event.ph === 'X' && event.name.endsWith('RunTask') && main.has(`${event.pid}/${event.tid}`))
  expect(tasks.length).toBeGreaterThan(10)
  return Math.max(...tasks.map((event) => (event.dur ?? 0) / 1_000))
}

async function measure(browser: Browser, page: Page, what: string, run: () => Promise<void>): Promise<void> {
  const took = await longest(browser, page, run)
  process.stdout.write(`${took.toFixed(0).padStart(5)} ms at most: ${what}\n`)
  expect.soft(took, what).toBeLessThan(MOST)
}

test.beforeEach(async ({ page }) => {
  await login(page)
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
})

test('a thousand applications', async ({ page, browser }) => {
  const stop = new AbortController()
  const busy = (async () => {
    for (let n = 0; !stop.signal.aborted; n++) await traffic(`tenant-${String(n % 1_000).padStart(4, '0')}`, 1)
  })()
  // Only those in view are drawn; the table says how many there are.
  const has = (count: number) => expect(page.getByTestId('apps')).toHaveAttribute('aria-rowcount', String(count + 1))
  await measure(browser, page, 'opening the list', async () => {
    await page.goto('/apps')
    await has(20)
    await isLive(page)
  })
  await measure(browser, page, 'five hundred on a page', async () => {
    await page.getByTestId('page-size').selectOption('500')
    await has(500)
  })
  await measure(browser, page, 'scrolling through five hundred, with live numbers', async () => {
    await page.mouse.move(700, 500)
    for (let n = 0; n < 80; n++) {
      await page.mouse.wheel(0, n < 40 ? 700 : -700)
      await page.waitForTimeout(100)
      // Whoever scrolls fast must not look at nothing for long.
      if (n % 20 === 0) await expect.poll(() => page.evaluate(() => document.elementFromPoint(700, 500)?.closest('tr')?.dataset['app'])).toBeTruthy()
    }
  })
  const search = page.getByTestId('search').locator('input').or(page.locator('input[data-test=search]'))
  await measure(browser, page, 'filtering by name', async () => {
    await search.pressSequentially('tenant-01', { delay: 120 })
    await has(100)
    await search.fill('')
    await has(500)
  })
  await measure(browser, page, 'filtering by priority and sorting', async () => {
    await page.getByRole('combobox', { name: 'Priority' }).selectOption('3')
    await expect(page).toHaveURL(/priority=3/)
    await has(200)
    await page.getByRole('button', { name: 'Guaranteed' }).click()
    await expect(page).toHaveURL(/sort=guaranteed_quota/)
    await page.getByRole('combobox', { name: 'Priority' }).selectOption('')
    await has(500)
  })
  await measure(browser, page, 'connections of a thousand', async () => {
    await page.getByRole('navigation').getByRole('link', { name: 'Connections' }).click()
    await expect(page.getByText('1003 in all')).toBeVisible()
    await page.mouse.move(700, 500)
    for (let n = 0; n < 20; n++) {
      await page.mouse.wheel(0, 400)
      await page.waitForTimeout(100)
    }
  })
  stop.abort()
  await busy
})

test('a week of history', async ({ page, browser }) => {
  for (const [what, path, chart] of [['dashboard', '/', 'rate'], ['application', '/apps/app-a', 'history-chart'], ['connections', '/connections', 'connections-chart']] as const) {
    await measure(browser, page, `${what}: opening, and every range`, async () => {
      await page.goto(path)
      await isLive(page)
      for (const range of ['6h', '24h', '7d', '1h', '7d']) {
        const answered = page.waitForResponse((response) => response.url().includes(`range=${range}`))
        await page.locator('.el-radio-button', { hasText: range }).click()
        const points = JSON.stringify(await (await answered).json()).split('"timestamp"').length - 1
        if (range === '7d') expect(points).toBeGreaterThanOrEqual(335)
        await page.waitForTimeout(500)
      }
      await page.getByTestId(chart).hover()
      for (let n = 0; n < 30; n++) await page.mouse.move(500 + n * 10, 350)
    })
  }
  await page.goto('/')
  await isLive(page)
  await measure(browser, page, 'dashboard: ten seconds of live numbers', async () => page.waitForTimeout(10_000))
})
