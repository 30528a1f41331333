import type { Schemas } from '@/api/client'
import { percent, whole } from '@/format'
import { word } from '@/i18n'

const LEVELS = ['normal', 'mild', 'significant', 'fail_open']

/** What an alert says, in the language that is chosen; as the server puts it if its rule is one that this console does not know. */
export function says(alert: Pick<Schemas['Alert'], 'rule' | 'subject' | 'value' | 'message'>): string {
  const { rule, subject, value, message } = alert
  // Why there is an emergency is only said in the server's own words.
  const why = message.slice(message.indexOf(': ') + 2)
  const [node = '', task = ''] = subject.split('/')
  const trouble = word('upkeep', task)
  const level = word('level', LEVELS[value] ?? '')
  const told = word('alert_says', rule, { subject, share: percent(value), n: whole(value), level, why, node, trouble })
  return told === rule ? message : told
}
