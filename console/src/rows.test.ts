import { describe, expect, it } from 'vitest'
import { rowsInView } from './rows'

describe('rowsInView', () => {
  it('draws all of a short table', () => {
    expect(rowsInView(20, 50, -200, 800)).toEqual({ first: 0, end: 20, above: 0, below: 0 })
  })

  it('draws what can be seen and some beside it, and leaves room for the others', () => {
    const { first, end, above, below } = rowsInView(500, 50, 10_000, 800)
    expect([first, end]).toEqual([185, 235])
    expect(above + below + (end - first) * 50).toBe(500 * 50)
  })

  it('draws the end of a table that has been scrolled past, and nothing that is not there', () => {
    expect(rowsInView(100, 50, 100_000, 800)).toEqual({ first: 100, end: 100, above: 5_000, below: 0 })
    expect(rowsInView(0, 50, 0, 800)).toEqual({ first: 0, end: 0, above: 0, below: 0 })
  })
})
