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

test('the outcome of a consolidation is what it learned, or why it learned nothing', () => {
  const totals = { episodes: 5, facts_created: 2, facts_superseded: 1, consolidated: 5, refused: 0, tokens_in: 900 }
  expect(outcome({ status: 'succeeded', result: { mode: 'run', totals, groups: [] } })).toBe(
    '2 facts created, 1 fact superseded, 5 episodes consolidated;',
  )
  expect(outcome({ status: 'succeeded', result: { mode: 'run', totals: { failed: 1, episodes: 1 } } })).toBe(
    '1 episode failed, 1 episode counted;',
  )
  const forgotten = { episodes: 1, suppressed: 3, suppressed_by: { forgotten: 2, erased: 1 } }
  expect(outcome({ status: 'succeeded', result: { mode: 'run', totals: forgotten } })).toBe(
    '3 actions left out (2 forgotten before, 1 erased before), 1 episode counted;',
  )
  const dry = { mode: 'dry_run', reason: 'no runtime is configured', totals: { episodes: 3 } }
  expect(outcome({ status: 'succeeded', result: dry })).toBe('3 episodes counted (no runtime is configured);')
  const failed = { status: 'failed', error: 'default/general: the endpoint refused', result: { totals } }
  expect(outcome(failed)).toBe('default/general: the endpoint refused')
})
