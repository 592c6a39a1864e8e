import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { go, settled, visit } from '../browser.mjs'
import { accessible } from '../checks.mjs'
import { test } from '../retry.mjs'

let made = 0
/** A name that no other test uses. */
const unique = (name) => `${name} ${Date.now()}${made++}`

const person = async (server, name) =>
  (await server.tool('entity_create', { canonical_name: name, entity_type: 'person' })).entity_id

const fact = async (server, entity_id, subject, predicate, content, more = {}) =>
  (await server.tool('memory_store_fact', { subject, predicate, content, entity_id, ...more })).id

const detail = async (server, id) => (await server.api(`/api/memory/entities/${id}`)).data

/** A person who knows two others and works with a third. */
export async function related(server) {
  const names = ['Zelda', 'Yuri', 'Xenia', 'Wim'].map(unique)
  const ids = await Promise.all(names.map((name) => person(server, name)))
  for (const [index, predicate] of [
    [1, 'knows'],
    [2, 'knows'],
    [3, 'works_with'],
  ]) {
    const content = `${names[0]} ${predicate} ${names[index]}`
    await fact(server, ids[0], names[0], predicate, content, { object_entity_id: ids[index] })
  }
  return { names, ids }
}

/** Whether anything is drawn on the canvas. */
const drawn = (page) =>
  page.waitForFunction(() => {
    const canvas = document.querySelector('canvas[aria-busy="false"]')
    if (!canvas || canvas.width === 0) return false
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    return data.some((value) => value !== 0)
  })

export function entities(shared) {
  describe('entities', () => {
    test('the name, type and aliases of an entity are edited; the edit can be undone', async () => {
      const { server, browser } = shared
      const name = unique('Ines')
      const id = await person(server, name)
      const page = await visit(browser, server)
      await go(page, `/entities/${id}`)
      await page.getByRole('button', { name: 'Edit', exact: true }).click()
      await accessible(page, 'the edit dialog')
      await page.getByRole('textbox', { name: 'Name', exact: true }).fill(`${name} Duarte`)
      await page.getByRole('combobox', { name: 'Type', exact: true }).selectOption('other')
      await page.getByRole('textbox', { name: 'Aliases, one per line', exact: true }).fill(`${name} D.\n${name} Du`)
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByRole('heading', { level: 1, name: `${name} Duarte` }).waitFor()
      const edited = await detail(server, id)
      assert.equal(edited.canonical_name, `${name} Duarte`)
      assert.equal(edited.entity_type, 'other')
      for (const alias of [`${name} D.`, `${name} Du`]) assert.ok(edited.aliases.includes(alias), edited.aliases)
      await page.getByRole('button', { name: 'Undo', exact: true }).click()
      await page.getByText('Edit undone.').waitFor()
      await page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
      assert.equal((await detail(server, id)).entity_type, 'person')
      assert.deepEqual(page.problems, [])
      await page.context().close()
    })

    test('merging shows both profiles and contradictions first, and can be undone on either page', async () => {
      const { server, browser } = shared
      const [first, second] = [unique('Zora'), unique('Zora Moreau')]
      const [source, target] = [await person(server, first), await person(server, second)]
      await fact(server, source, first, 'plays', 'the cello')
      await fact(server, source, first, 'studied', 'in Lyon')
      await fact(server, target, second, 'collects', 'stamps')
      const page = await visit(browser, server)
      const merge = async () => {
        await go(page, `/entities/${source}`)
        await page.getByRole('button', { name: 'Merge', exact: true }).click()
        await page.getByRole('searchbox', { name: 'Search for the entity to keep', exact: true }).fill(second)
        await page.getByRole('region', { name: 'Matching entities' }).getByRole('button', { name: second }).click()
        await page.getByText(`2 facts of ${first} move to ${second}`).waitFor()
      }
      await merge()
      await page
        .getByRole('region', { name: `Merged away: ${first}` })
        .getByText('the cello')
        .waitFor()
      await page
        .getByRole('region', { name: `Kept: ${second}` })
        .getByText('stamps')
        .waitFor()
      await accessible(page, 'the merge preview')
      const confirm = page.getByRole('button', { name: 'Merge entities', exact: true })
      await confirm.click()
      await page.waitForURL((url) => url.pathname.endsWith(target))
      await page.getByText('the cello').first().waitFor()
      await page.getByRole('button', { name: 'Undo', exact: true }).first().waitFor()
      await page.getByRole('button', { name: `Undo the merge of ${first}`, exact: true }).click()
      await page.getByText('Merge undone.').first().waitFor()
      assert.equal((await detail(server, source)).merged_into, null)

      await merge()
      await confirm.click()
      await page.waitForURL((url) => url.pathname.endsWith(target))
      await go(page, `/entities/${source}`)
      await page.getByText(`Merged into ${second}`).waitFor()
      await page.getByRole('button', { name: 'Undo merge', exact: true }).click()
      await page.getByText('the cello').first().waitFor()

      await merge()
      await confirm.click()
      await page.getByRole('status').getByRole('button', { name: 'Undo', exact: true }).click()
      await page.waitForURL((url) => url.pathname.endsWith(source))
      await page.getByText('the cello').first().waitFor()
      assert.deepEqual(page.problems, [])
      await page.context().close()
    })

    test('everything about a person is forgotten after a preview, except what is kept', async () => {
      const { server, browser } = shared
      const name = unique('Quentin')
      const id = await person(server, name)
      const own = await fact(server, id, name, 'owns', 'a red bicycle')
      const mention = await server.tool('memory_store_fact', {
        subject: unique('the club'),
        predicate: 'chaired_by',
        content: `${name} since spring`,
      })
      const { id: rule } = await server.tool('memory_store_rule', { content: `Call ${name} before a visit.` })
      const page = await visit(browser, server)
      await go(page, `/entities/${id}`)
      await page.getByRole('button', { name: 'Forget everything', exact: true }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByText('1 fact', { exact: true }).waitFor()
      await dialog.getByRole('list', { name: 'Facts that mention it' }).getByText('since spring').waitFor()
      await dialog.getByRole('checkbox', { name: `Call ${name} before a visit.` }).uncheck()
      await accessible(page, 'the preview of forgetting')
      await dialog.getByRole('button', { name: 'Erase permanently', exact: true }).click()
      const erase = dialog.getByRole('button', { name: 'Erase everything', exact: true })
      await dialog.getByRole('textbox', { name: `Type ${name} to confirm`, exact: true }).waitFor()
      assert.ok(await erase.isDisabled(), 'erasing requires the name')
      await dialog.getByRole('button', { name: 'Forget', exact: true }).click()
      await dialog.getByRole('button', { name: 'Forget everything', exact: true }).click()
      await page.getByText(`Forgot everything about ${name}`).waitFor()
      for (const gone of [own, mention.id])
        assert.equal((await server.api(`/api/memory/facts/${gone}`)).data.validity, 'retracted')
      assert.notEqual((await server.api(`/api/memory/rules/${rule}`)).data.state, 'forgotten', 'the rule is kept')
      assert.deepEqual(page.problems, [])
      await page.context().close()
    })

    test('the graph is drawn, its list expands by keyboard, and it is filtered by predicate and time', async () => {
      const { server, browser } = shared
      const { names, ids } = await related(server)
      const page = await visit(browser, server)
      await go(page, '/graph?butler=demo')
      await drawn(page)
      const list = page.getByRole('list', { name: 'Entities', exact: true })
      await page.getByRole('searchbox', { name: 'Find an entity', exact: true }).fill(names[0])
      const row = list.getByRole('button', { name: new RegExp(`^${names[0]}`) })
      await row.focus()
      await page.keyboard.press('Enter')
      const relations = page.getByRole('list', { name: `Relations of ${names[0]}`, exact: true })
      await relations.waitFor()
      assert.equal(await relations.getByRole('button').count(), 3)
      await page.getByRole('combobox', { name: 'Predicate', exact: true }).selectOption('knows')
      await relations.getByText('works with').waitFor({ state: 'detached' })
      assert.equal(await relations.getByRole('button').count(), 2)
      await page.getByLabel('Learned until', { exact: true }).fill('2000-01-01')
      await page.getByText('No relations match the filters.').waitFor()
      await page.getByRole('button', { name: 'Clear filters', exact: true }).click()
      await relations.getByRole('button', { name: names[1] }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('list', { name: `Relations of ${names[1]}`, exact: true }).waitFor()
      assert.ok(page.url().includes(`entity=${ids[1]}`), 'the selection is in the URL')
      await page.keyboard.press('/')
      assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('type')), 'search')
      assert.deepEqual(page.problems, [])
      await page.context().close()
    })

    test('a profile opens in the graph, and a double click opens the profile', async () => {
      const { server, browser } = shared
      const { names, ids } = await related(server)
      const page = await visit(browser, server)
      await go(page, `/entities/${ids[0]}`)
      await page
        .getByRole('list', { name: 'Relations', exact: true })
        .getByRole('link', { name: names[3], exact: true })
        .waitFor()
      await page.getByRole('link', { name: 'Show in graph', exact: true }).click()
      await page.waitForURL(`**/graph?entity=${ids[0]}**`)
      await settled(page)
      await page.getByRole('list', { name: `Relations of ${names[0]}`, exact: true }).waitFor()
      await drawn(page)
      const canvas = page.getByRole('application')
      await canvas.focus()
      for (const key of ['+', '-', 'ArrowLeft', 'ArrowRight']) await page.keyboard.press(key)
      // the selected entity is in the middle
      await canvas.dblclick()
      await page.waitForURL(`**/entities/${ids[0]}`)
      assert.deepEqual(page.problems, [])
      await page.context().close()
    })
  })
}
