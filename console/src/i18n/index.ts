import { createI18n } from 'vue-i18n'
import { en, type Messages } from './en'
import { zh } from './zh'

export type Locale = 'en' | 'zh'

/** Every message there is, as `page.message`. */
export type Key = { [G in keyof Messages]: `${G}.${keyof Messages[G] & string}` }[keyof Messages]

export const i18n = createI18n<false>({ legacy: false, locale: 'en', fallbackLocale: 'en', messages: { en, zh } })

export const locale = i18n.global.locale

/** The message in the language that is chosen. */
export function t(key: Key, values: Record<string, string | number> = {}): string {
  return i18n.global.t(key, values)
}

/** The message for a word of the server; the word itself if there is none. */
export function word(group: keyof Messages, name: string, values: Record<string, string> = {}): string {
  const key = `${group}.${name}`
  return i18n.global.te(key, 'en') ? i18n.global.t(key, values) : name
}
