import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from '@playwright/test'
import { api, expect, isLive, login, settle, test } from '../hand'

const FOLDER = fileURLToPath(new URL('../../../docs/pictures/', import.meta.url))
/** How long there is traffic before pictures are taken, so that charts have something to show, in milliseconds. */
const TRAFFIC = Number(process.env['TRAFFIC_S'] ?? 150) * 1_000

async function shoot(page: Page, name: string): Promise<void> {
  // The pointer rests where it lights up nothing.
  await page.mouse.move(225, 70)
  await page.waitForTimeout(1_200)
  const client = await page.context().newCDPSession(page)
  const { data } = await client.send('Page.captureScreenshot', { format: 'webp', quality: 88 })
  writeFileSync(`${FOLDER}${name}.webp`, Buffer.from(data, 'base64'))
  await client.detach()
}

test('the pictures of the README', async ({ browser }) => {
  test.setTimeout(TRAFFIC + 240_000)
  mkdirSync(FOLDER, { recursive: true })
  await settle()
  const ask = await api()
  for (const [app_id, guaranteed_quota, priority] of [['billing', 8_000, 1], ['backups', 2_000, 3], ['search', 12_000, 1]] as const)
    await ask('POST', '/api/v1/apps', { app_id, cluster: 'cluster-01', guaranteed_quota, burst_quota: guaranteed_quota * 4, priority })
  await new Promise((resume) => setTimeout(resume, TRAFFIC))
  for (const theme of ['light', 'dark'] as const) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 860 }, colorScheme: theme, deviceScaleFactor: 1 })
    await login(page)
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    await isLive(page)
    await shoot(page, `dashboard-${theme}`)
    await page.goto('/apps/app-c')
    await isLive(page)
    await shoot(page, `application-${theme}`)
    await page.goto('/apps/app-c/quota')
    await page.locator('input[name=guaranteed_quota]').fill('9000')
    await page.locator('input[name=burst_quota]').fill('36000')
    await page.getByTestId('review').click()
    await expect(page.getByTestId('forecast')).toBeVisible()
    await shoot(page, `quota-${theme}`)
    await page.goto('/emergency')
    await page.getByTestId('declare').click()
    await page.locator('.el-dialog input[name=reason]').fill('two disks are failing')
    await page.locator('input[name=confirm]').fill('cluster-01')
    await shoot(page, `emergency-${theme}`)
    await page.close()
  }
})
