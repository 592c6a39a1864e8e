import { expect, test } from 'vitest'
import { address } from './client'

test('parameters fill the path and the query, escaped; what is not given is left out', () => {
  const parameters = { path: { id: 'a/b' }, query: { q: 'x & y', limit: 10, scope: undefined, sort: '' } }
  expect(address('/api/memory/facts/{id}', parameters)).toBe('/api/memory/facts/a%2Fb?q=x+%26+y&limit=10')
})
