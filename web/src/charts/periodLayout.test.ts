import { expect, test } from 'vitest'
import { layOut, type Period, worthShowing } from './periodLayout'

const now = Date.parse('2036-01-01T00:00:00Z')
const period = (id: string, from: string | null, to: string | null, when: string): Period => ({
  id,
  content: id,
  validity: 'active',
  when,
  holds_from: from && `${from}-01-01T00:00:00Z`,
  holds_to: to && `${to}-01-01T00:00:00Z`,
  created_at: '2035-06-01T00:00:00Z',
})
const oslo = period('Oslo', null, '2030', 'past')
const rome = period('Rome', '2030', null, 'present')

test('a change ends one period where the next one begins', () => {
  const { bars, now: place } = layOut([oslo, rome], now)
  expect(bars.map(({ openStart, openEnd }) => [openStart, openEnd])).toEqual([
    [true, false],
    [false, true],
  ])
  expect(bars[0]?.left).toBe(0)
  expect((bars[0]?.left ?? 0) + (bars[0]?.width ?? 0)).toBeCloseTo(bars[1]?.left ?? -1)
  expect((bars[1]?.left ?? 0) + (bars[1]?.width ?? 0)).toBeCloseTo(1)
  expect(place).toBeGreaterThan(bars[1]?.left ?? 1)
  expect(place).toBeLessThan(1)
})

test('a plan lies after now', () => {
  const { bars, now: place } = layOut([rome, period('Bern', '2040', null, 'future')], now)
  expect(bars[1]?.left).toBeGreaterThan(place)
})

test('a period of a moment stays visible, and every bar lies within the chart', () => {
  const short = { ...rome, holds_from: '2030-01-01T00:00:00Z', holds_to: '2030-01-01T00:01:00Z' }
  const { bars, ticks } = layOut([short, period('old', '1900', '2000', 'past')], now)
  for (const { left, width } of bars) {
    expect(width).toBeGreaterThan(0)
    expect(left).toBeGreaterThanOrEqual(0)
    expect(left + width).toBeLessThanOrEqual(1)
  }
  expect(ticks.length).toBeGreaterThan(1)
})

test('facts without any date are laid out since they were stored', () => {
  const { bars, now: place } = layOut([period('Oslo', null, null, 'present')], now)
  expect(bars[0]).toMatchObject({ left: 0, width: 1, openStart: true, openEnd: true })
  expect(place).toBeGreaterThan(0.5)
})

test('a single undated fact needs no timeline', () => {
  expect(worthShowing([])).toBe(false)
  expect(worthShowing([period('Oslo', null, null, 'present')])).toBe(false)
  expect(worthShowing([oslo])).toBe(true)
  expect(worthShowing([oslo, rome])).toBe(true)
})
