// What people come to the dashboard for, each as they would do it.
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { go, settled, visit } from '../browser.mjs'
import { accessible } from '../checks.mjs'
import { test } from '../retry.mjs'

const unique = (word) => `${word}${Date.now()}${Math.floor(Math.random() * 1000)}`

/** Stores facts with a tag of their own, so that a list shows them alone. */
async function tagged(server, number) {
  const tag = unique('pantry')
  for (let index = 0; index < number; index++) {
    await server.tool('memory_store_fact', {
      subject: `${tag} shelf ${index}`,
      predicate: 'holds',
      content: `${tag} jar ${index}`,
      tags: [tag],
    })
  }
  return tag
}

const listed = (page) => page.getByRole('list', { name: 'Facts' }).locator('[data-row]')
const factsWith = async (server, tag, query = '') =>
  (await server.api(`/api/memory/facts?tag=${encodeURIComponent(tag)}&limit=100${query}`)).data

export function tasks(shared) {
  describe('tasks', () => {
    test('a half-remembered word finds the memory: misspelled, without accents, or in other words', async () => {
      const { server, browser } = shared
      const mark = unique('')
      const store = (subject, predicate, content) => server.tool('memory_store_fact', { subject, predicate, content })
      const { id: buns } = await store(`Grønning ${mark}`, 'bakes', 'buns with cardamom every Saturday')
      const { id: boat } = await store(`Lindqvist ${mark}`, 'owns', 'a small sailing boat in the harbour')
      const page = await visit(browser, server)
      await go(page, '/search')
      const box = page.getByRole('searchbox', { name: 'Search everything', exact: true })
      for (const [typed, id] of [
        ['Gronning', buns],
        ['cardamon', buns],
        ['Lindquist', boat],
        ['who has a yacht', boat],
      ]) {
        await box.fill(typed)
        await page.getByRole('list', { name: 'Results' }).locator(`a[href$="${id}"]`).waitFor()
      }
      for (const [path, name, typed, id] of [
        ['/facts', 'Search facts', 'cardamon', buns],
        ['/facts', 'Search facts', 'a yacht', boat],
      ]) {
        await go(page, path)
        await page.getByRole('searchbox', { name, exact: true }).fill(typed)
        await page.getByRole('list', { name: 'Facts' }).locator(`a[href$="${id}"]`).waitFor()
      }
      assert.deepEqual(page.problems, [])
      await page.context().close()
    })

    test('the overview tells what changed this week, and each figure leads to its list', async () => {
      const { server, browser } = shared
      const page = await visit(browser, server, { width: 1440, height: 900 })
      await go(page, '/memory')
      const { data } = await server.api('/api/memory/changes?since=7d')
      const number = (section) =>
        data.flatMap((butler) => butler[section]).reduce((sum, group) => sum + group.changes.length, 0)
      const learned = page.getByRole('link', { name: /things? learned/ })
      assert.equal(Number((await learned.innerText()).replace(/\D/g, '')), number('learned'))
      await page.getByRole('img', { name: /^Changes by day/ }).waitFor()
      const size = await page.evaluate(() => document.documentElement.scrollHeight)
      assert.ok(size <= 900, `the overview fits one screen, and is ${size} px high`)
      await learned.click()
      await page.waitForURL('**/memory/changes?section=learned')
      await settled(page)
      assert.equal(await page.locator('main [data-row]').count(), number('learned'))
      await go(page, '/memory')
      await page
        .getByRole('navigation', { name: 'Totals' })
        .getByRole('link', { name: /fading facts/ })
        .click()
      await page.waitForURL('**/facts?validity=fading**')
      await listed(page).first().waitFor()
      assert.ok(await listed(page).first().isVisible())
      assert.deepEqual(page.problems, [])
      await page.context().close()
    })

    test('many facts are tagged, moved to another scope and forgotten at once, and each is undone', async () => {
      const { server, browser } = shared
      const tag = await tagged(server, 5)
      const page = await visit(browser, server)
      // A list that is slow to come must not let anybody act on the versions of before.
      await page.route('**/api/memory/facts?*', async (route) => {
        await setTimeout(500)
        await route.continue()
      })
      await go(page, `/facts?tag=${tag}`)
      await page.getByRole('status').getByText('5 facts').waitFor()
      const boxes = listed(page).getByRole('checkbox')
      await boxes.nth(0).click()
      await boxes.nth(3).click({ modifiers: ['Shift'] })
      const bar = page.getByRole('region', { name: 'Selected rows' })
      await bar.getByText('4 facts selected').waitFor()

      await bar.getByRole('button', { name: 'Tag…', exact: true }).click()
      await page.getByRole('textbox', { name: 'Tag', exact: true }).fill(`${tag}-sorted`)
      await page.getByRole('button', { name: 'Add tag', exact: true }).click()
      await page.getByText(`4 facts tagged ${tag}-sorted.`).waitFor()
      assert.equal((await factsWith(server, `${tag}-sorted`)).length, 4)
      await page.getByRole('button', { name: 'Undo', exact: true }).last().click()
      await boxes.nth(0).click()
      await page.getByText('Undone for 4 facts.').waitFor()
      await bar.waitFor({ state: 'hidden' })
      assert.equal((await factsWith(server, `${tag}-sorted`)).length, 0)
      assert.equal((await factsWith(server, tag)).length, 5)

      await page.getByRole('checkbox', { name: 'Select all', exact: true }).click()
      await bar.getByRole('button', { name: 'Change scope…', exact: true }).click()
      await page.getByRole('combobox', { name: 'Scope', exact: true }).fill('kitchen')
      await page.getByRole('button', { name: 'Change scope', exact: true }).click()
      await page.getByText('5 facts moved to kitchen.').waitFor()
      assert.deepEqual(new Set((await factsWith(server, tag)).map((fact) => fact.scope)), new Set(['kitchen']))
      await page.getByRole('button', { name: 'Undo', exact: true }).last().click()
      await page.getByText('Undone for 5 facts.').waitFor()
      assert.deepEqual(new Set((await factsWith(server, tag)).map((fact) => fact.scope)), new Set(['global']))

      await page.getByRole('checkbox', { name: 'Select all', exact: true }).click()
      await bar.getByText('5 facts selected').waitFor()
      await bar.getByRole('button', { name: 'Forget', exact: true }).click()
      await page.getByText('5 facts forgotten.').waitFor()
      await page.getByText('No matching facts').waitFor()
      await page.getByRole('button', { name: 'Undo', exact: true }).last().click()
      await page.getByRole('status').getByText('5 facts', { exact: true }).waitFor()
      assert.equal((await factsWith(server, tag)).length, 5)
      assert.deepEqual(page.problems, [])
      await page.context().close()
    })

    test('a tag of a row filters the list, and many facts are confirmed at once and undone', async () => {
      const { server, browser } = shared
      const tag = await tagged(server, 3)
      const before = (await factsWith(server, tag)).map((fact) => fact.last_confirmed_at)
      const page = await visit(browser, server)
      await go(page, '/facts')
      await listed(page).getByRole('link', { name: tag, exact: true }).first().click()
      await page.waitForURL(`**/facts?tag=${tag}`)
      await page.getByRole('status').getByText('3 facts').waitFor()
      await page
        .getByTitle(/^1\.00 confidence: learned /)
        .first()
        .waitFor()
      await page.getByRole('checkbox', { name: 'Select all', exact: true }).click()
      await page
        .getByRole('region', { name: 'Selected rows' })
        .getByRole('button', { name: 'Confirm', exact: true })
        .click()
      await page.getByText('3 facts confirmed.').waitFor()
      const confirmed = (await factsWith(server, tag)).map((fact) => fact.last_confirmed_at)
      assert.ok(
        confirmed.every((at, index) => at > before[index]),
        `${confirmed} are later than ${before}`,
      )
      await page.getByRole('button', { name: 'Undo', exact: true }).last().click()
      await page.getByText('Undone for 3 facts.').waitFor()
      assert.deepEqual(
        (await factsWith(server, tag)).map((fact) => fact.last_confirmed_at),
        before,
      )
      assert.deepEqual(page.problems, [])
      await page.context().close()
    })

    test('rules keep their maturity when they are tagged', async () => {
      const { server, browser } = shared
      const [proven] = (await server.api('/api/memory/rules?maturity=proven&limit=1')).data
      const tag = unique('kept')
      const page = await visit(browser, server)
      await go(page, '/rules?maturity=proven')
      const row = page.getByRole('list', { name: 'Rules' }).locator('[data-row]')
      const own = row.filter({ has: page.locator(`a[href$="${proven.id}"]`) })
      await own.getByRole('checkbox').click()
      await page.getByRole('button', { name: 'Tag…', exact: true }).click()
      await page.getByRole('textbox', { name: 'Tag', exact: true }).fill(tag)
      await page.keyboard.press('Enter')
      await page.getByText(`1 rule tagged ${tag}.`).waitFor()
      const { data } = await server.api(`/api/memory/rules/${proven.id}`)
      assert.deepEqual(
        [data.maturity, data.success_count, data.tags.includes(tag)],
        ['proven', proven.success_count, true],
      )
      await page.getByRole('button', { name: 'Undo', exact: true }).last().click()
      await page.getByText('Undone for 1 rule.').waitFor()
      assert.ok(!(await server.api(`/api/memory/rules/${proven.id}`)).data.tags.includes(tag))
      await page.context().close()
    })

    test('with the keyboard alone: select, forget and undo', async () => {
      const { server, browser } = shared
      const tag = await tagged(server, 3)
      const page = await visit(browser, server)
      await go(page, `/facts?tag=${tag}`)
      await page.getByRole('status').getByText('3 facts').waitFor()
      for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key)
      await page.getByText('2 facts selected').waitFor()
      await page.keyboard.press('f')
      await page.getByText('2 facts forgotten.').waitFor()
      assert.equal((await factsWith(server, tag)).length, 1)
      await page.keyboard.press('u')
      await page.getByText('Undone for 2 facts.').waitFor()
      assert.equal((await factsWith(server, tag)).length, 3)
      assert.deepEqual(page.problems, [])
      await page.context().close()
    })

    test('a long list loads while it is scrolled, without page numbers', async () => {
      const { server, browser } = shared
      const { meta } = await server.api('/api/memory/facts?limit=1')
      assert.ok(meta.total > 300, 'the demo is large')
      const page = await visit(browser, server)
      await go(page, '/facts')
      await listed(page).first().waitFor()
      const last = page.locator(`main [aria-posinset="${meta.total}"]`)
      await page.waitForFunction(() => {
        window.scrollTo(0, document.documentElement.scrollHeight)
        const rows = [...document.querySelectorAll('main [aria-posinset]')]
        return rows.some((row) => row.getAttribute('aria-posinset') === row.getAttribute('aria-setsize'))
      })
      assert.ok(await last.isVisible())
      assert.ok((await listed(page).count()) < 100, 'only rows on the screen are drawn')
      assert.deepEqual(page.problems, [])
      await page.context().close()
    })

    test('on a phone, a row has its actions', async () => {
      const { server, browser } = shared
      const tag = await tagged(server, 1)
      const page = await visit(browser, server, { width: 390, height: 844 })
      await go(page, `/facts?tag=${tag}`)
      await page.getByRole('button', { name: /^Actions for/ }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Forget', exact: true }).click()
      await page.getByText('Fact forgotten.').waitFor()
      assert.equal((await factsWith(server, tag)).length, 0)
      await page.context().close()
    })

    test('on a phone, entities and search results have their actions', async () => {
      const { server, browser } = shared
      const name = unique('Wilhelmina')
      await server.tool('entity_create', { canonical_name: name, entity_type: 'person' })
      await server.tool('memory_store_fact', { subject: name, predicate: 'grows', content: 'quinces' })
      const page = await visit(browser, server, { width: 390, height: 844 })
      await go(page, `/search?q=${name}&kind=fact`)
      await page
        .getByRole('button', { name: /^Actions for/ })
        .first()
        .click()
      await page.getByRole('dialog').getByRole('button', { name: 'Confirm', exact: true }).click()
      await page.getByText('Confirmed.').waitFor()
      await go(page, `/entities?q=${name}`)
      await page.getByRole('button', { name: `Actions for ${name}`, exact: true }).click()
      await accessible(page, 'the actions of an entity on a phone')
      await page.getByRole('dialog').getByRole('button', { name: 'Edit', exact: true }).click()
      await page.getByRole('dialog').getByRole('textbox', { name: 'Name', exact: true }).fill(`${name} Quint`)
      await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByRole('link', { name: `${name} Quint`, exact: true }).waitFor()
      assert.deepEqual(page.problems, [])
      await page.context().close()
    })

    test('why a fact is believed: from the search to the episode that it was learned from', async () => {
      const { server, browser } = shared
      const mark = unique('Ines')
      const said = await server.tool('memory_store_episode', {
        content: `${mark} moved to Porto in May.`,
        butler: 'demo',
      })
      await server.tool('memory_store_fact', {
        subject: mark,
        predicate: 'lives_in',
        content: 'Porto',
        source_episode_id: said.id,
      })
      const page = await visit(browser, server)
      await go(page, '/memory')
      await page.keyboard.press('Control+k')
      await page.getByPlaceholder('Memories, actions, butlers, pages').fill(mark)
      await page.getByRole('option').filter({ hasText: 'Porto' }).filter({ hasText: /^Fact/ }).first().click()
      await page.waitForURL('**/memory/facts/**')
      const from = page.getByRole('region', { name: 'Provenance' })
      await from.getByRole('button', { name: 'List', exact: true }).click()
      await from.getByText('learned from').waitFor()
      await from.locator(`a[href$="${said.id}"]`).first().click()
      await page.locator('main').getByText(`${mark} moved to Porto in May.`).first().waitFor()
      await page.context().close()
    })

    test('the palette searches when typing pauses, not at every letter', async () => {
      const { server, browser } = shared
      const page = await visit(browser, server)
      await go(page, '/memory')
      const searches = []
      page.on('request', (request) => request.url().includes('/api/memory/search') && searches.push(request.url()))
      await page.keyboard.press('Control+k')
      await page.getByPlaceholder('Memories, actions, butlers, pages').waitFor()
      const typed = 'what to cook for dinner'
      await page.keyboard.type(typed)
      await page
        .getByRole('option')
        .filter({ hasText: /^(Fact|Rule|Episode)/ })
        .first()
        .waitFor()
      assert.ok(searches.length < typed.length / 2, `${searches.length} searches`)
      assert.deepEqual(page.problems, [])
      await page.context().close()
    })

    test('the palette runs actions and finds butlers and recent pages', async () => {
      const { server, browser } = shared
      const page = await visit(browser, server)
      await go(page, '/rules')
      await page.getByText('Ctrl', { exact: true }).first().waitFor()
      await go(page, '/entities')
      const choose = async (typed, name) => {
        await page.keyboard.press('Control+k')
        await page.getByPlaceholder('Memories, actions, butlers, pages').fill(typed)
        await page.getByRole('option').filter({ hasText: name }).first().click()
      }
      await page.keyboard.press('Control+k')
      await page.getByRole('group', { name: 'Recent' }).getByRole('option', { name: 'Rules' }).click()
      await page.waitForURL('**/rules')
      await choose('changed this week', 'Show what changed this week')
      await page.waitForURL('**/memory/changes')
      await choose('demo', /^demo/)
      await page.waitForURL('**/butlers/demo/memory')
      await choose('sourdough bread', 'Search everything for')
      await page.waitForURL('**/search?q=sourdough+bread')
      assert.deepEqual(page.problems, [])
      await page.context().close()
    })
  })
}
