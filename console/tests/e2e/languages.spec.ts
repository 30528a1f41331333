import { en } from '../../src/i18n/en'
import { zh } from '../../src/i18n/zh'
import { expect, isLive, login, settle, test } from '../hand'

/** Pages, and what each is called in Chinese. */
const PAGES: [string, string][] = [
  ['/', zh.nav.dashboard], ['/apps', zh.nav.apps], ['/apps/app-a', 'app-a'], ['/apps/new', zh.apps.new], ['/apps/app-a/quota', zh.editor.title_edit.replace('{id}', 'app-a')], ['/clusters', zh.nav.clusters],
  ['/connections', zh.nav.connections], ['/emergency', zh.nav.emergency], ['/alerts', zh.nav.alerts], ['/alerts?state=all', zh.nav.alerts], ['/refusals', zh.nav.refusals], ['/explain', zh.nav.explain], ['/versions', zh.nav.versions],
  ['/audit', zh.nav.audit], ['/settings', zh.nav.settings], ['/settings?tab=users', zh.nav.settings], ['/settings?tab=tokens', zh.nav.settings], ['/settings?tab=webhooks', zh.nav.settings], ['/settings?tab=system', zh.nav.settings],
]

/** Every message that differs between the languages: none of these may be read where the other is spoken. */
function foreign(own: typeof en, other: typeof en): string[] {
  const texts = (messages: object) => Object.values(messages).flatMap((group) => Object.values(group as object) as string[])
  const spoken = new Set(texts(own))
  return texts(other).filter((text) => text.length > 1 && !text.includes('{') && !spoken.has(text))
}

test.beforeAll(settle)

test('every page speaks Chinese, and only that', async ({ page }) => {
  // The button that brings English back is in English, and so are reasons that were written in it.
  const english = foreign(zh, en).filter((text) => ![zh.app.language, en.editor.rollback].includes(text))
  expect(english.length).toBeGreaterThan(200)
  await login(page)
  await isLive(page)
  await page.getByTestId('language').click()
  for (const [path, title] of PAGES) {
    await page.goto(path)
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(title)
    await expect(page.locator('html')).toHaveAttribute('lang', 'zh-CN')
    await isLive(page)
    await expect(page.locator('.el-skeleton')).toHaveCount(0)
    const shown = await page.evaluate(() => {
      const texts: string[] = []
      const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
      while (walk.nextNode()) texts.push(walk.currentNode.textContent?.trim() ?? '')
      for (const element of document.querySelectorAll('[aria-label], [placeholder], [title]'))
        for (const name of ['aria-label', 'placeholder', 'title']) texts.push(element.getAttribute(name) ?? '')
      return texts
    })
    expect(shown.filter((text) => english.includes(text)), path).toEqual([])
    if (path === '/' || path === '/apps/app-a') await page.screenshot({ path: `artifacts/chinese-${path === '/' ? 'dashboard' : 'app'}.png`, fullPage: true })
  }
})

for (const [language, words] of [['zh', zh], ['en', en]] as const) {
  test(`an application comes, changes and goes, ${language}`, async ({ page }) => {
    const id = `life-${language}`
    await page.addInitScript((chosen) => localStorage.setItem('language', chosen), language)
    await login(page)
    await page.getByRole('link', { name: words.nav.apps, exact: true }).click()
    await page.getByRole('button', { name: words.apps.new }).click()
    await page.getByLabel(words.editor.app_id, { exact: true }).fill(id)
    await page.getByRole('button', { name: words.common.create }).click()
    await expect(page.getByText(words.apps.created.replace('{id}', id))).toBeVisible()
    await page.getByRole('button', { name: words.apps.edit_quota }).click()
    await page.getByLabel(words.editor.burst_quota).fill('6000')
    await page.getByRole('button', { name: words.editor.review }).click()
    await expect(page.getByTestId('changes').getByRole('cell', { name: words.editor.burst_quota })).toBeVisible()
    await page.getByRole('button', { name: words.editor.apply, exact: true }).click()
    await expect(page.getByText(words.editor.applied.replace('{n}', '1').replace('{of}', '1'))).toBeVisible()
    await page.getByRole('link', { name: words.editor.done_open }).click()
    await page.getByRole('button', { name: words.common.delete }).click()
    await page.getByLabel(words.emergency.confirm.replace('{word}', id)).fill(id)
    await page.getByRole('dialog').getByRole('button', { name: words.common.delete }).click()
    await expect(page.getByText(words.apps.deleted.replace('{id}', id))).toBeVisible()
    await expect(page.locator(`tr[data-app=${id}]`)).toHaveCount(0)
  })
}
