import { expect, test } from 'vitest'
import { confidenceAt, fallsBelow } from './decay'

const confirmed = '2026-01-01T00:00:00Z'
const day = (number: number) => Date.parse(confirmed) + number * 86_400_000

test('confidence decays exponentially since the last confirmation', () => {
  const memory = { confidence: 0.9, decay_rate: 0.008, last_confirmed_at: confirmed }
  expect(confidenceAt(memory, day(100.5))).toBeCloseTo(0.9 * Math.exp(-0.008 * 100.5), 12)
  expect(confidenceAt(memory, day(-4))).toBe(0.9)
})

test('permanent never fades, unconfirmed is worth nothing', () => {
  expect(confidenceAt({ confidence: 0.7, decay_rate: 0, last_confirmed_at: null }, day(9000))).toBe(0.7)
  expect(confidenceAt({ confidence: 0.7, decay_rate: 0.1, last_confirmed_at: null }, day(1))).toBe(0)
  expect(fallsBelow({ confidence: 1, decay_rate: 0, last_confirmed_at: confirmed }, 0.2)).toBeNull()
})

test('the foretold date is when the threshold is crossed', () => {
  const memory = { confidence: 1, decay_rate: 0.03, last_confirmed_at: confirmed }
  const at = fallsBelow(memory, 0.2)?.getTime() ?? 0
  expect(confidenceAt(memory, at + 1000)).toBeLessThan(0.2)
  expect(confidenceAt(memory, at - 1000)).toBeGreaterThan(0.2)
})
