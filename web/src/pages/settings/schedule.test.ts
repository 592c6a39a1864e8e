import { expect, test } from 'vitest'
import { describeSchedule, outcome } from './schedule'

test('common schedules are described in words, others are shown as cron expressions', () => {
  expect(describeSchedule('0 */6 * * *')).toBe('every 6 hours')
  expect(describeSchedule('0 3 * * *')).toBe('daily at 03:00')
  expect(describeSchedule('*/15 * * * *')).toBe('every 15 minutes')
  expect(describeSchedule('0 3 * * MON')).toBe('0 3 * * MON')
})

test('the outcome of a run is its counts or its error', () => {
  expect(outcome({ status: 'succeeded', result: { facts_fading: 12, facts_expired: 0 } })).toBe('12 facts fading;')
  expect(outcome({ status: 'succeeded', result: { facts_expired: 1, idempotency_keys_removed: 1 } })).toBe(
    '1 fact expired, 1 idempotency key removed;',
  )
  expect(outcome({ status: 'succeeded', result: {} })).toBe('nothing to do;')
  expect(outcome({ status: 'failed', error: 'no runtime' })).toBe('no runtime')
})
