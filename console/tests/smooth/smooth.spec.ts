import type { Browser, Page } from '@playwright/test'
import { expect, isLive, login, test, traffic } from '../hand'

/** What a task of the main thread may take at most, in milliseconds. */
const MOST = 200

interface TraceEvent { name: string; ph: string; pid: number; tid: number; ts: number; dur?: number; tdur?: number; args: { name?: string } }

/** The longest that a task took by the clock, the most that one worked, and what most of that was, in milliseconds. */
interface Longest { wall: number; work: number; part: string }

const BRACKETS = /RunTask$|^RunMicrotasks$|^FunctionCall$|^v8\.callFunction$|Handle|Dispatch|Scheduler|TaskQueue/

/** The tasks of the main thread while something was done, by the browser's own trace. */
async function longest(browser: Browser, page: Page, run: () => Promise<void>): Promise<Longest> {
  await browser.startTracing(page, { categories: ['toplevel', 'devtools.timeline', 'disabled-by-default-devtools.timeline', 'v8', '__metadata'] })
  await run()
  const trace = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] }
  const main = new Set(trace.traceEvents.filter((event) => event.name === 'thread_name' && event.args.name === 'CrRendererMain').map((event) => `${event.pid}/${event.tid}`))
  const spans = trace.traceEvents.filter((event) => event.ph === 'X' && main.has(`${event.pid}/${event.tid}`))
  const tasks = spans.filter((event) => event.name.endsWith('RunTask'))
  expect(tasks.length).toBeGreaterThan(10)
  const worked = (event: TraceEvent) => (event.tdur ?? event.dur ?? 0) / 1_000
  const top = tasks.reduce((most, event) => (worked(event) > worked(most) ? event : most))
  const inside = spans.filter((event) => !BRACKETS.test(event.name) && event.pid === top.pid && event.tid === top.tid && event.ts >= top.ts && event.ts + (event.dur ?? 0) <= top.ts + (top.dur ?? 0))
  const part = inside.reduce<TraceEvent | null>((most, event) => (!most || worked(event) > worked(most) ? event : most), null)
  const wall = Math.max(...tasks.map((event) => (event.dur ?? 0) / 1_000))
  return { wall, work: worked(top), part: part ? `${part.name} ${worked(part).toFixed(0)} ms` : '' }
}

/** Browser and server share the processors here: what counts is what a task works, not what it waits for them. */
async function measure(browser: Browser, page: Page, what: string, run: () => Promise<void>): Promise<void> {
  const { wall, work, part } = await longest(browser, page, run)
  process.stdout.write(`${work.toFixed(0).padStart(5)} ms of work at most (${wall.toFixed(0)} ms by the clock; ${part}): ${what}\n`)
  expect.soft(work, what).toBeLessThan(MOST)
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
  await page.goto('/apps')
  await has(20)
  await isLive(page)
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
    await page.goto(path)
    await isLive(page)
    await expect(page.getByTestId(chart)).toBeVisible()
    await measure(browser, page, `${what}: every range`, async () => {
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
