// Commands that the dashboard shows, run as they were copied.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe } from 'node:test'
import { promisify } from 'node:util'
import { butler, go, Server, visit } from '../browser.mjs'
import { test } from '../retry.mjs'

const run = promisify(execFile)

/** Runs a command as it was copied, in another directory than the server's and with a home of its own. */
export async function asCopied(command, home) {
  const env = { ...process.env, PATH: `${dirname(butler)}:${process.env.PATH}`, ...(home ? { HOME: home } : {}) }
  const running = run('sh', ['-c', command], { cwd: '/', env })
  // a program that reads its input sees the end of it
  running.child.stdin.end()
  return running
}

export async function copied(page, label) {
  await page.getByRole('button', { name: `Copy ${label}`, exact: true }).click()
  return page.evaluate(() => navigator.clipboard.readText())
}

/** The text of all files of a directory. */
async function written(directory) {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return (await Promise.all(files.map((file) => readFile(file, 'utf8')))).join('\n')
}

export function commands(shared) {
  describe('commands', () => {
    test('copied commands work on the data, the butler and the tenant that the page shows', async () => {
      const server = await Server.start({ demo: false, roster: { general: '', other: '' } })
      const home = await mkdtemp(join(tmpdir(), 'butler-e2e-home-'))
      try {
        const request_context = { tenant_id: 'ann' }
        const fact = { subject: 'Ada', predicate: 'likes', content: 'difference engines', request_context }
        await server.tool('memory_store_fact', fact, 'other')
        const page = await visit(shared.browser, server)
        await go(page, '/memory')
        await page.getByRole('button', { name: /^Tenant/ }).click()
        await page.getByRole('textbox', { name: 'Name', exact: true }).fill('ann')
        await page.getByRole('button', { name: 'Switch tenant', exact: true }).click()

        for (const client of ['Claude Code', 'Claude Desktop', 'Cursor', 'VS Code']) {
          await go(page, '/settings?tab=connections&butler=other')
          await page.getByRole('button', { name: client, exact: true }).click()
          const connect = await copied(page, `the command that connects ${client}`)
          await rm(home, { recursive: true, force: true })
          await asCopied(connect, home)
          const text = await written(home)
          for (const part of [server.roster, 'other', 'ann'])
            assert.ok(text.includes(part), `${connect} writes ${part}: ${text}`)
        }
        await page.getByRole('button', { name: 'Other', exact: true }).click()
        const stdio = (await copied(page, 'the Other configuration')).split('\n').at(-1)
        assert.match(stdio, /^butler mcp .*--butler other --tenant ann$/)
        await asCopied(stdio)

        await go(page, '/settings?tab=data&butler=other')
        const exporting = await copied(page, 'the export command')
        const { stdout } = await asCopied(exporting.replace('memory.jsonl', '-'))
        assert.match(stdout, /difference engines/)

        await go(page, '/settings?tab=jobs&butler=other')
        const jobs = await page.locator('main code').filter({ hasText: 'jobs run' }).allInnerTexts()
        assert.ok(jobs.length > 0)
        for (const job of jobs) await asCopied(job)
        assert.deepEqual(page.problems, [])
        await page.context().close()
      } finally {
        await server.stop()
        await rm(home, { recursive: true, force: true })
      }
    })
  })
}
