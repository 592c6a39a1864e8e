import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe } from 'node:test'
import { go, Server, visit } from '../browser.mjs'
import { test } from '../retry.mjs'
import { asCopied, copied } from './commands.mjs'

export function transfer(shared) {
  describe('data', () => {
    test('a memory is exported, imported by another butler and backed up; commands run as copied', async () => {
      const server = await Server.start({ demo: false, roster: { general: '', other: '' } })
      try {
        const fact = { subject: 'Ada', predicate: 'likes', content: 'difference engines' }
        await server.tool('memory_store_fact', fact, 'general')
        const page = await visit(shared.browser, server)
        await go(page, '/settings?tab=data')
        const download = page.waitForEvent('download')
        await page.getByRole('button', { name: 'Download the export', exact: true }).click()
        const file = await (await download).path()
        assert.match(await readFile(file, 'utf8'), /difference engines/)

        await go(page, '/settings?tab=data&butler=other')
        await page.getByLabel('File to import').setInputFiles(file)
        await page.getByRole('button', { name: 'Check the file', exact: true }).click()
        await page.getByText(/^This file would add/).waitFor()
        await page.getByRole('button', { name: 'Import', exact: true }).click()
        await page.getByText(/^Imported: /).waitFor()
        const { data } = await server.api('/api/memory/facts?butler=other')
        assert.deepEqual(
          data.map(({ content }) => content),
          ['difference engines'],
        )

        await page.getByRole('button', { name: 'Back up now', exact: true }).click()
        await page.getByRole('list', { name: 'Backups' }).getByText('1 fact').waitFor()
        const verify = await copied(page, 'the command that verifies the latest backup')
        assert.match((await asCopied(verify)).stdout, /verified/)
        const exporting = await copied(page, 'the export command')
        const { stdout } = await asCopied(exporting.replace('memory.jsonl', '-'))
        assert.match(stdout, /difference engines/)
        assert.match(stdout.split('\n')[0], /"butler":"other"/)
        await go(page, '/settings?tab=health')
        await asCopied(await copied(page, 'the command of a full check'))
        assert.deepEqual(page.problems, [])
        await page.context().close()
      } finally {
        await server.stop()
      }
    })

    test('an LLM that is down is reported with the reason, and one that answers is shown', async () => {
      const server = await Server.start({
        demo: false,
        roster: {
          // nothing listens on the discard port
          broken: '[butler.runtime]\ntype = "openai"\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "none"\n',
          works: '[butler.runtime]\ntype = "command"\ncommand = ["sh", "-c", "cat > /dev/null; echo ready"]\n',
        },
      })
      try {
        const page = await visit(shared.browser, server)
        await go(page, '/settings?tab=health&butler=broken')
        await page.getByRole('button', { name: 'Test the LLM', exact: true }).click()
        await page.getByText(/✕ the LLM did not answer: cannot reach http:\/\/127\.0\.0\.1:9/).waitFor()
        page.problems.length = 0
        await go(page, '/settings?tab=health&butler=works')
        await page.getByRole('button', { name: 'Test the LLM', exact: true }).click()
        await page.getByText(/answered “ready”/).waitFor()
        assert.deepEqual(page.problems, [])
        await page.context().close()
      } finally {
        await server.stop()
      }
    })
  })
}
