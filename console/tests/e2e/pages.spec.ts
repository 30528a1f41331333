import { expect, isAccessible, isLive, login, settle, test } from '../hand'

const PAGES = {
  dashboard: '/', apps: '/apps', app: '/apps/app-c', new: '/apps/new', quota: '/apps/app-c/quota', clusters: '/clusters', connections: '/connections', emergency: '/emergency',
  alerts: '/alerts', refusals: '/refusals', explain: '/explain', versions: '/versions', audit: '/audit', settings: '/settings', users: '/settings?tab=users',
  tokens: '/settings?tab=tokens', webhooks: '/settings?tab=webhooks', system: '/settings?tab=system',
}

test.beforeAll(settle)

for (const theme of ['light', 'dark'] as const) {
  test(`every page is for everybody, ${theme}`, async ({ page }) => {
    test.setTimeout(240_000)
    await page.addInitScript((chosen) => localStorage.setItem('theme', chosen), theme)
    await page.goto('/login')
    await isAccessible(page, 'login')
    await page.screenshot({ path: `artifacts/${theme}-login.png` })
    await login(page)
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    for (const [name, path] of Object.entries(PAGES)) {
      await page.setViewportSize({ width: 1280, height: 800 })
      await page.goto(path)
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
      await expect(page.locator('.el-skeleton')).toHaveCount(0)
      await isLive(page)
      await page.waitForTimeout(600)
      await page.screenshot({ path: `artifacts/${theme}-${name}.png`, fullPage: true })
      await isAccessible(page, `${theme} ${name}`)
      await page.setViewportSize({ width: 390, height: 844 })
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
      expect(overflow, `${name} is wider than a phone`).toBeLessThanOrEqual(0)
      await page.waitForTimeout(200)
      if (theme === 'light') await page.screenshot({ path: `artifacts/phone-${name}.png`, fullPage: true })
    }
  })
}

test('the first page is light and does not jump', async ({ page }) => {
  await page.addInitScript(() => {
    const jumps = { sum: 0 }
    Object.assign(window, { jumps })
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & { value: number; hadRecentInput: boolean })[]) if (!entry.hadRecentInput) jumps.sum += entry.value
    }).observe({ type: 'layout-shift', buffered: true })
  })
  await login(page)
  await expect(page.getByTestId('live-state')).toBeVisible()
  // Whatever the page after the login is still reading is not counted.
  await page.goto('about:blank')
  const client = await page.context().newCDPSession(page)
  await client.send('Network.enable')
  await client.send('Network.setCacheDisabled', { cacheDisabled: true })
  let bytes = 0
  const files = new Set<string>()
  client.on('Network.responseReceived', ({ requestId, response }) => {
    if (/\/assets\/|\/$/.test(new URL(response.url).pathname)) files.add(requestId)
  })
  client.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (files.has(requestId)) bytes += encodedDataLength
  })
  await page.goto('/')
  await page.waitForLoadState('networkidle')
  await isLive(page)
  const jumps = await page.evaluate(() => (window as unknown as { jumps: { sum: number } }).jumps.sum)
  process.stdout.write(`first page: ${Math.round(bytes / 1000)} kB, layout shift ${jumps.toFixed(3)}\n`)
  // What is good for those who use it, as web vitals have it.
  expect(jumps).toBeLessThan(0.1)
  expect(bytes).toBeGreaterThan(10_000)
  expect(bytes).toBeLessThan(500_000)
})
