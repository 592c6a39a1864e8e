import { expect, test } from 'vitest'
import {
  briefDate,
  dayFromNumber,
  dayNumber,
  dayOf,
  earliestDay,
  isDay,
  momentDay,
  sliderStart,
  validityText,
} from './dates'

const now = Date.parse('2026-11-17T10:00:00Z')

test('a date is shown in the precision in which it was given', () => {
  expect(briefDate('2023')).toBe('2023')
  expect(briefDate('2024-03')).toBe('Mar 2024')
  expect(briefDate('2026-12-01')).toBe('1 Dec 2026')
  expect(briefDate('0050-12-01')).toBe('1 Dec 0050')
  expect(briefDate('2026-03-01T12:00:00Z')).toBe('1 Mar 2026')
  expect(briefDate('nonsense')).toBe('nonsense')
})

test('midnight in UTC is the same day in every time zone', () => {
  for (const zone of ['America/New_York', 'UTC', 'Asia/Tokyo']) {
    process.env.TZ = zone
    expect(momentDay('2026-03-01T00:00:00Z'), zone).toBe('1 Mar 2026')
    expect(briefDate('2026-12-01'), zone).toBe('1 Dec 2026')
  }
  delete process.env.TZ
})

test('a fact says since when, from when or until when it is true', () => {
  expect(validityText({ valid_from: '2023' }, now)).toBe('since 2023')
  expect(validityText({ valid_to: '2024-03' }, now)).toBe('until Mar 2024')
  expect(validityText({ valid_from: '2026-12-01' }, now)).toBe('from 1 Dec 2026')
  expect(validityText({ valid_from: '2020', valid_to: '2024-03' }, now)).toBe('since 2020 until Mar 2024')
  expect(validityText({ valid_from: null }, now)).toBeNull()
})

test('a day is a date of the calendar', () => {
  expect(isDay('2024-02-29')).toBe(true)
  for (const text of ['2023-02-29', '2023-02-30', '2023-2-1', '2023', '2023-13-01', '20230-01-01', ''])
    expect(isDay(text), text).toBe(false)
  expect(dayFromNumber(dayNumber('2024-02-29') + 1)).toBe('2024-03-01')
  expect(dayOf(new Date(2024, 0, 5, 23, 59))).toBe('2024-01-05')
})

test('a slider begins before the earliest date, and at least a year ago', () => {
  const start = (...dates: (string | null | undefined)[]) => sliderStart(earliestDay(dates), '2026-11-17')
  expect(start()).toBe('2025-11-17')
  expect(start('2026-11-01T08:00:00Z', null)).toBe('2025-11-17')
  expect(start('2026-01-01')).toBe('2025-11-17')
  expect(start('2025-12-01', 'nonsense')).toBe('2025-10-27')
  expect(start('2016-11-17', undefined, '2023-05')).toBe('2015-11-18')
  expect(start('0001')).toBe('0001-01-01')
})
