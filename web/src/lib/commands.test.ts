import { expect, test } from 'vitest'
import { command } from './commands'

test('a command names the data, the butler and the tenant of the server', () => {
  expect(command('backup create')).toBe('butler backup create')
  const server = { tenant: 'ann', cli_flags: " --data-dir '/srv/memory'" }
  expect(command('backup create', server, 'health')).toBe(
    "butler backup create --data-dir '/srv/memory' --butler health --tenant ann",
  )
})
