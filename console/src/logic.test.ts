import { describe, expect, it } from 'vitest'
import { says } from './alerts'
import { address, ApiError } from './api/client'
import { bars, finished, gapped, lines, told } from './charts/picture'
import { csv } from './csv'
import { duration, percent, short } from './format'
import { locale } from './i18n'
import { en } from './i18n/en'
import { zh } from './i18n/zh'
import { everything } from './load'
import { blank, differences, fieldErrors } from './policy'

describe('address', () => {
  it('fills in names, and leaves out what is not said', () => {
    const options = { path: { app_id: 'a/b' }, query: { page: 1, search: '', status: undefined } } as object
    expect(address('/api/v1/apps/{app_id}', options)).toBe('/api/v1/apps/a%2Fb?page=1')
  })
})

describe('csv', () => {
  it('quotes what must be quoted and defuses formulas, but not numbers', () => {
    expect(csv(['a', 'b'], [['x,"y"', '=1+1'], [-5, null]])).toBe('a,b\r\n"x,""y""",\'=1+1\r\n-5,\r\n')
  })
})

describe('format', () => {
  it('speaks the language of whoever looks', () => {
    locale.value = 'en'
    expect(short(12_345)).toBe('12.3K')
    locale.value = 'zh'
    expect(short(12_345)).toBe('1.2万')
    locale.value = 'en'
    expect(percent(0.1234)).toBe('12.3%')
  })

  it('counts down in whole seconds, never below none', () => {
    expect([duration(59_001), duration(3_723_000), duration(-5)]).toEqual(['1:00', '1:02:03', '0:00'])
  })
})

describe('gapped', () => {
  it('leaves a hole where nothing was recorded', () => {
    const points = [0, 10, 20, 90].map((at) => ({ timestamp: at * 1_000, n: at }))
    expect(gapped(points, 10, (point) => point.n)).toEqual([[0, 0], [10_000, 10], [20_000, 20], [30_000, null], [90_000, 90]])
  })
})

describe('differences', () => {
  it('tells every field that differs, and no other', () => {
    const before = { ...blank('c'), cost: { base: { GET: 1 } } }
    const after = { ...before, burst_quota: 9_000, cost: { base: { GET: 1, PUT: 7 } } }
    expect(differences(before, after)).toEqual([
      { field: 'burst_quota', before: 5_000, after: 9_000 },
      { field: 'cost.base.PUT', before: undefined, after: 7 },
    ])
    expect(differences(before, structuredClone(before))).toEqual([])
  })
})

describe('fieldErrors', () => {
  it('says what would be accepted', () => {
    const errors = [{ path: 'burst_quota', kind: 'too_small', message: 'too small', expected: 'at least 5' }]
    expect(fieldErrors(new ApiError({ status: 400, title: 'x', errors }))).toEqual({ burst_quota: 'too small (at least 5)' })
  })
})

describe('messages', () => {
  it('take the same values in both languages', () => {
    const names = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1]).sort()
    for (const [group, messages] of Object.entries(en)) {
      const others = zh[group as keyof typeof zh] as Record<string, string>
      for (const [key, text] of Object.entries(messages)) expect(names(others[key] ?? ''), `${group}.${key}`).toEqual(names(text))
    }
  })
})

describe('finished', () => {
  it('leaves out a last point whose time is not over, unless there is no other', () => {
    const points = [{ timestamp: 0 }, { timestamp: 10_000 }]
    expect(finished(points, 10, 19_999)).toEqual([{ timestamp: 0 }])
    expect(finished(points, 10, 20_000)).toEqual(points)
    expect(finished([{ timestamp: 0 }], 10, 5)).toEqual([{ timestamp: 0 }])
  })
})

describe('told', () => {
  it('says how curves end, and every bar', () => {
    const curves = [{ name: 'Passed', colour: '', points: [[0, 1], [1, 12_345]] as [number, number][] }, { name: 'Refused', colour: '', points: [] }]
    expect(told(lines(curves, '/s'))).toBe('Passed 12,345, Refused 0 /s')
    expect(told(bars([{ name: 'Cost', colour: '', values: [7, 8] }], ['GET', 'PUT'], 'tokens'))).toBe('GET 7, PUT 8 tokens')
  })
})

describe('says', () => {
  it('puts an alert into the words of whoever looks, and those of rules it does not know as the server does', () => {
    const alert = { rule: 'refusal_ratio', subject: 'app-c', value: 0.42, message: '42 % of the requests of app-c are refused' }
    expect(says(alert)).toBe('42% of the requests of app-c are refused')
    locale.value = 'zh'
    expect(says(alert)).toBe('app-c 的请求有 42% 被拒绝')
    expect(says({ rule: 'emergency', subject: 'c', value: 1, message: 'c is in emergency mode: disks: slow' })).toBe('c 处于紧急模式：disks: slow')
    locale.value = 'en'
    expect(says({ rule: 'upkeep_failing', subject: 'node-01/snapshot', value: 1, message: '' })).toBe('node-01 cannot save its ledger, its log says why')
    expect(says({ ...alert, rule: 'of another version' })).toBe(alert.message)
  })
})

describe('everything', () => {
  it('reads a list to its end, even if it gets shorter meanwhile', async () => {
    const pages = [[1, 2], [3]]
    expect(await everything((page) => Promise.resolve({ data: pages[page - 1] ?? [], total: 3 }))).toEqual([1, 2, 3])
    expect(await everything((page) => Promise.resolve({ data: pages[page - 1] ?? [], total: 9 }))).toEqual([1, 2, 3])
  })
})
