import { expect, test } from 'vitest'
import { ApiError } from '../api/error'
import { doEach, failureText } from './bulk'

test('a row that fails does not keep the others from being done', async () => {
  const rows = Array.from({ length: 20 }, (_, index) => index)
  const { done, failed } = await doEach(rows, async (row) => {
    if (row % 7 === 3) throw new ApiError(409, 'conflict', `row ${row} is gone`)
    return row
  })
  expect(done.toSorted((a, b) => a - b)).toEqual(rows.filter((row) => row % 7 !== 3))
  expect(failed.map(({ row }) => row).toSorted((a, b) => a - b)).toEqual([3, 10, 17])
})

test('a failure names how many rows failed and why', () => {
  const failed = (...reasons: string[]) => reasons.map((reason, row) => ({ row, reason }))
  expect(failureText(failed('it is gone'), 'fact', 'forgotten')).toBe('1 fact was not forgotten: it is gone')
  expect(failureText(failed('a', 'b', 'a'), 'rule', 'tagged')).toBe('3 rules were not tagged: a (and 1 other reason)')
})
