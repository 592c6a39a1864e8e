import { expect, test } from 'vitest'
import { changedDates, dateTexts, rejectedField } from './dateFields'

test('an edit sends only the dates that changed', () => {
  const known = { valid_from: '2023', valid_to: null }
  const texts = dateTexts(known)
  expect(texts).toEqual({ valid_from: '2023', valid_to: '', observed_at: '' })
  expect(changedDates(known, texts)).toEqual({})
  expect(changedDates(known, { ...texts, valid_to: ' 2024-03 ' })).toEqual({ valid_to: '2024-03' })
  expect(changedDates(known, { ...texts, valid_from: ' ' })).toEqual({ valid_from: null })
  expect(changedDates({ observed_at: '2023' }, { ...texts, valid_from: '', observed_at: '' })).toEqual({})
})

test('the message of the API names the field that it rejects', () => {
  expect(rejectedField({ message: 'valid_from: is "soon", which is not a date' })).toBe('valid_from')
  expect(rejectedField({ message: 'valid_to: is "2023", which is before valid_from (2034)' })).toBe('valid_to')
  expect(rejectedField({ message: 'content: is empty' })).toBeUndefined()
})
