import { expect, test } from 'vitest'
import { groupBy } from './group'
import { snippets } from './snippets'

test('with tokens on, every HTTP snippet carries one', () => {
  const all = snippets('http://127.0.0.1:8150/mcp', true)
  for (const { client, text } of all.filter((snippet) => snippet.text.includes('http')))
    expect(text, client).toContain('Bearer YOUR_TOKEN')
  for (const { text } of snippets('http://127.0.0.1:8150/mcp', false)) expect(text).not.toContain('TOKEN')
})

test('every snippet names the butler unless it is the first one', () => {
  const texts = snippets('http://h/butlers/health/mcp', false, 'health').map((snippet) => snippet.text)
  for (const text of texts) expect(text).toContain('health')
})

test('commands in snippets work on the data of the server', () => {
  const host = { tenant: 'ann', cli_flags: " --data-dir '/srv/memory'" }
  const commands = snippets('http://h/mcp', false, undefined, host)
    .flatMap(({ text }) => text.split('\n'))
    .filter((line) => line.startsWith('butler '))
  expect(commands).toEqual([
    "butler connect claude-desktop --data-dir '/srv/memory' --tenant ann",
    "butler mcp --data-dir '/srv/memory' --tenant ann",
  ])
})

test('groups keep the order of their first items', () => {
  expect(groupBy(['b1', 'a1', 'b2'], (text) => text.charAt(0))).toEqual([
    ['b', ['b1', 'b2']],
    ['a', ['a1']],
  ])
})
