import { defineStore } from 'pinia'
import { ref, watchEffect } from 'vue'
import { locale, type Locale } from '@/i18n'

export type Theme = 'light' | 'dark'

function read<T extends string>(key: string, known: readonly T[], otherwise: T): T {
  const found = localStorage.getItem(key) as T | null
  return found && known.includes(found) ? found : otherwise
}

/** How somebody likes the console; kept in the browser. */
export const usePreferences = defineStore('preferences', () => {
  const system: Theme = window.matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
  const spoken: Locale = navigator.language.startsWith('zh') ? 'zh' : 'en'
  const theme = ref<Theme>(read('theme', ['light', 'dark'], system))
  const language = ref<Locale>(read('language', ['en', 'zh'], spoken))

  watchEffect(() => {
    document.documentElement.classList.toggle('dark', theme.value === 'dark')
    localStorage.setItem('theme', theme.value)
  })
  watchEffect(() => {
    locale.value = language.value
    document.documentElement.lang = language.value === 'zh' ? 'zh-CN' : 'en'
    localStorage.setItem('language', language.value)
  })
  return { theme, language }
})
