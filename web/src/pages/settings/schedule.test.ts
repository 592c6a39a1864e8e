import { expect, test } from 'vitest'
import { cronWords, outcome } from './schedule'

test('usual schedules are read out, unusual ones shown as they are', () => {
  expect(cronWords('0 */6 * * *')).toBe('every 6 hours')
  expect(cronWords('0 3 * * *')).toBe('daily at 03:00')
  expect(cronWords('*/15 * * * *')).toBe('every 15 minutes')
  expect(cronWords('0 3 * * MON')).toBe('0 3 * * MON')
})

test('a run says what it did or why it failed', () => {
  expect(outcome({ status: 'succeeded', result: { facts_fading: 12, facts_expired: 0 } })).toBe('12 facts fading;')
  expect(outcome({ status: 'succeeded', result: { facts_expired: 1, idempotency_keys_removed: 1 } })).toBe(
    '1 fact expired, 1 idempotency key removed;',
  )
  expect(outcome({ status: 'succeeded', result: {} })).toBe('nothing to do;')
  expect(outcome({ status: 'failed', error: 'no runtime' })).toBe('no runtime')
})
