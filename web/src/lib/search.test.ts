import { expect, test } from 'vitest'
import { fraction, oneOf, parseSearch, stringifySearch, text, whole } from './search'

test('what is typed comes back as typed, numbers and brackets too', () => {
  const written = stringifySearch({ q: '{"a": 1} & 007', offset: undefined, kind: '' })
  expect(parseSearch(written)).toEqual({ q: '{"a": 1} & 007' })
})

test('nonsense in the address falls back to the default', () => {
  const raw = { offset: '-3', limit: '1.5', min: '7', kind: 'nonsense', q: '' }
  expect(whole(raw, 'offset')).toBeUndefined()
  expect(whole(raw, 'limit')).toBeUndefined()
  expect(fraction(raw, 'min')).toBeUndefined()
  expect(oneOf(raw, 'kind', ['facts', 'rules'])).toBeUndefined()
  expect(text(raw, 'q')).toBeUndefined()
})
