import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { go, isLive, Server, visit } from '../browser.mjs'
import { accessible } from '../checks.mjs'
import { test } from '../retry.mjs'

export function live(shared) {
  describe('live', () => {
    test('what an agent stores appears without a reload', async () => {
      const { server, browser } = shared
      const page = await visit(browser, server)
      await go(page, '/facts')
      await isLive(page).waitFor()
      const content = `seen live ${Date.now()}`
      await server.tool('memory_store_fact', { subject: 'live', predicate: 'test', content })
      await page.getByRole('list', { name: 'Facts' }).getByText(content).waitFor()
      assert.deepEqual(page.problems, [])
      await page.context().close()
    })

    test('the page reports that the server is down and reconnects when it is back', async () => {
      const { server, browser } = shared
      const page = await visit(browser, server)
      await go(page, '/memory')
      await isLive(page).waitFor()
      // the other pages and the palette are prefetched after the first page has loaded
      await page.waitForFunction(() => {
        const loaded = performance.getEntriesByType('resource')
        return ['EntitiesPage', 'Palette'].every((part) => loaded.some(({ name }) => name.includes(part)))
      })
      const { host } = new URL(server.url)
      await server.close()
      try {
        await page.getByText('The server is not responding.').waitFor()
        assert.ok((await page.locator('main').innerText()).includes('facts'), 'the last known data stays visible')
        await page.keyboard.press('Control+k')
        await page.getByPlaceholder('Memories, actions, butlers, pages').fill('milk')
        await page.getByText('The search failed: the server is not responding').waitFor()
        await page.keyboard.press('Escape')
        await page.getByRole('dialog').waitFor({ state: 'hidden' })
        await page.getByRole('link', { name: 'Entities', exact: true }).click()
        await page.getByRole('button', { name: 'Try again', exact: true }).waitFor()
      } finally {
        await server.open(host)
      }
      await isLive(page).waitFor()
      await page.getByText('The server is not responding.').waitFor({ state: 'hidden' })
      await page.context().close()
    })

    test('every page names a butler that is down', async () => {
      // nothing listens on the discard port
      const server = await Server.start({
        demo: false,
        roster: { general: '', absent: '[butler.database]\nurl = "postgres://nobody@127.0.0.1:9/lost"\n' },
      })
      try {
        // whether the butler that is down has tokens is unknown, so callers without one are refused
        const rights = ['--rights', 'read,write,admin']
        const { stdout } = await server.butler('token', 'create', '--tenant', 'default', ...rights, '--json')
        server.token = JSON.parse(stdout).token
        await server.tool('memory_store_fact', { subject: 'Ada', predicate: 'likes', content: 'engines' }, 'general')
        const page = await visit(shared.browser, server)
        await page.goto('/memory')
        await page.getByLabel('Token', { exact: true }).fill(server.token)
        await page.getByRole('button', { name: 'Use this token', exact: true }).click()
        await isLive(page).waitFor()
        for (const path of ['/memory', '/facts', '/rules', '/memory/episodes', '/entities', '/timeline']) {
          await go(page, path)
          await page.getByText('✕ absent is down.').waitFor()
          assert.equal(await page.getByText('✕ absent is down.').count(), 1, `${path} names it once`)
        }
        await page.getByRole('navigation', { name: 'Pages' }).getByText('✕ down').waitFor()
        await go(page, '/facts')
        await page.getByRole('list', { name: 'Facts' }).getByText('engines').waitFor()
        await accessible(page, 'a butler is down')
        // it is the first of the roster, so the recall lab uses the next one
        await go(page, '/recall?q=engines')
        await page.getByText('✕ absent is down.').waitFor()
        await page.locator('main [data-row]').getByText('engines').waitFor()
        await go(page, '/butlers/absent/memory')
        await page.getByText('cannot reach PostgreSQL').first().waitFor()
        await go(page, '/settings?tab=health')
        const absent = page
          .getByRole('region', { name: 'Server health' })
          .getByRole('listitem')
          .filter({ hasText: 'absent' })
        await absent.getByText('Down').waitFor()
        await page.context().close()
      } finally {
        await server.stop()
      }
    })
  })
}
