import { expect, test } from 'vitest'
import { fraction, oneOf, parseSearch, stringifySearch, text, time, whole } from './search'

test('a query with numbers and brackets survives a round trip', () => {
  const written = stringifySearch({ q: '{"a": 1} & 007', offset: undefined, kind: '' })
  expect(parseSearch(written)).toEqual({ q: '{"a": 1} & 007' })
})

test('invalid values in the URL fall back to the default', () => {
  const raw = { offset: '-3', limit: '1.5', min: '7', kind: 'nonsense', q: '' }
  expect(whole(raw, 'offset')).toBeUndefined()
  expect(whole(raw, 'limit')).toBeUndefined()
  expect(fraction(raw, 'min')).toBeUndefined()
  expect(oneOf(raw, 'kind', ['facts', 'rules'])).toBeUndefined()
  expect(text(raw, 'q')).toBeUndefined()
})

test('a page shows a day, as believed on a day in the past', () => {
  const at = (raw: Record<string, string>) => time(raw, '2026-11-17')
  expect(at({})).toEqual({})
  expect(at({ valid_at: '2024-03-05' })).toEqual({ valid_at: '2024-03-05' })
  expect(at({ valid_at: '2024-03-05', as_of: '2024-03-05' })).toEqual({ valid_at: '2024-03-05', as_of: '2024-03-05' })
  expect(at({ as_of: '2024-03-05' })).toEqual({ valid_at: '2024-03-05', as_of: '2024-03-05' })
  expect(at({ valid_at: '2030-01-01', as_of: '2030-01-01' })).toEqual({ valid_at: '2030-01-01' })
  expect(at({ valid_at: 'soon', as_of: '2024-02-30' })).toEqual({})
})
