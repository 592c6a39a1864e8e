import { expect, test } from 'vitest'
import { groupBy } from './group'
import { snippets } from './snippets'

test('with tokens every snippet that speaks HTTP carries one', () => {
  const all = snippets('http://127.0.0.1:8150/mcp', true)
  for (const { client, text } of all.filter((snippet) => snippet.text.includes('http')))
    expect(text, client).toContain('Bearer YOUR_TOKEN')
  for (const { text } of snippets('http://127.0.0.1:8150/mcp', false)) expect(text).not.toContain('TOKEN')
})

test('another butler than the first is named where the address does not name it', () => {
  const texts = snippets('http://h/butlers/health/mcp', false, 'health').map((snippet) => snippet.text)
  for (const text of texts) expect(text).toContain('health')
})

test('groups keep the order in which they begin', () => {
  expect(groupBy(['b1', 'a1', 'b2'], (text) => text.charAt(0))).toEqual([
    ['b', ['b1', 'b2']],
    ['a', ['a1']],
  ])
})
