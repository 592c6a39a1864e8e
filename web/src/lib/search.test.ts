import { expect, test } from 'vitest'
import { fraction, oneOf, parseSearch, stringifySearch, text, whole } from './search'

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
