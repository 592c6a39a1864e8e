import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { go, settled, visit } from '../browser.mjs'
import { test } from '../retry.mjs'

const lists = [
  '/memory',
  '/facts',
  '/rules',
  '/inbox',
  '/memory/episodes',
  '/entities',
  '/graph',
  '/timeline',
  '/search?q=tea',
  '/memory/health',
  '/memory/changes',
  '/settings?tab=jobs',
]

export function manyButlers(shared) {
  describe('many butlers', () => {
    /**
     * Visits a server that appears to host twelve more butlers. `name` is the butler that is shown; `toAll` collects
     * the requests to all butlers.
     */
    async function crowded() {
      const list = await shared.server.api('/api/butlers')
      const more = Array.from({ length: 12 }, (_, n) => ({ ...list.data[0], name: `extra${n}`, first: false }))
      const json = { ...list, data: [...list.data, ...more] }
      const page = await visit(shared.browser, shared.server)
      await page.route('**/api/butlers', (route) => route.fulfill({ json }))
      const toAll = []
      page.on('request', (request) => {
        const { pathname, searchParams } = new URL(request.url())
        if (/^\/api\/(memory|timeline|jobs)/.test(pathname) && !searchParams.has('butler')) toAll.push(pathname)
      })
      return { page, toAll, name: list.data.find(({ health }) => health === 'ready').name }
    }

    test('every list asks the chosen butler, not all of them', async () => {
      const { page, toAll } = await crowded()
      for (const path of lists) {
        await go(page, path)
        assert.deepEqual(toAll, [], `${path} asks all butlers`)
      }
      assert.deepEqual(page.problems, [])
      await page.context().close()
    })

    test('the sidebar finds a butler by a part of its name', async () => {
      const { page } = await crowded()
      await go(page, '/facts')
      const sidebar = page.getByRole('navigation', { name: 'Pages' })
      const filter = sidebar.getByRole('searchbox', { name: 'Filter butlers', exact: true })
      await filter.fill('TRA11')
      await sidebar.getByRole('link', { name: 'extra11' }).waitFor()
      assert.equal(await sidebar.getByRole('link', { name: /^extra/ }).count(), 1)
      await filter.fill('nobody')
      await sidebar.getByText('No butler with that name.').waitFor()
      await page.context().close()
    })

    test('an empty list names the butler it searched; the picker leads to another butler and to all', async () => {
      const { page, toAll, name } = await crowded()
      await go(page, '/facts?tag=no-such-tag')
      await page.getByText(`No matching facts in ${name}`).waitFor()
      await page.getByText(`Only ${name} was searched.`, { exact: false }).waitFor()
      const picker = page.getByRole('combobox', { name: 'Butler', exact: true })
      assert.equal(await picker.inputValue(), name)
      await picker.selectOption({ label: 'All butlers' })
      await page.getByText('No matching facts', { exact: true }).waitFor()
      assert.ok(toAll.includes('/api/memory/facts'), 'all butlers are asked once the person wants it')
      await picker.selectOption(name)
      await page.waitForURL(`**butler=${name}`)
      await page.getByText(`No matching facts in ${name}`).waitFor()
      // the choice holds for the other pages
      await go(page, '/search?q=no-such-word-anywhere')
      await settled(page)
      assert.equal(await page.getByRole('combobox', { name: 'Butler', exact: true }).inputValue(), name)
      await page.context().close()
    })
  })
}
