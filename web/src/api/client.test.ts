import { expect, test } from 'vitest'
import { address } from './client'

test('escapes path and query parameters and omits those without a value', () => {
  const parameters = { path: { id: 'a/b' }, query: { q: 'x & y', limit: 10, scope: undefined, sort: '' } }
  expect(address('/api/memory/facts/{id}', parameters)).toBe('/api/memory/facts/a%2Fb?q=x+%26+y&limit=10')
})
