import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { go, settled, visit } from '../browser.mjs'
import { accessible, fits } from '../checks.mjs'
import { test } from '../retry.mjs'

let made = 0
const unique = (name) => `${name} ${Date.now()}${made++}`

/** A person who lived in Oslo until March 2023, then in Rome, and plans to move to Bern. */
async function mover(server) {
  const name = unique('Tove')
  const { entity_id: id } = await server.tool('entity_create', { canonical_name: name, entity_type: 'person' })
  const store = async (content, more = {}) =>
    (await server.tool('memory_store_fact', { subject: name, predicate: 'lives_in', content, entity_id: id, ...more }))
      .id
  const oslo = await store('Oslo')
  const rome = await store('Rome', { valid_from: '2023-03' })
  const bern = await store('Bern', { valid_from: '2090' })
  return { name, id, oslo, rome, bern }
}

const homes = (page) => page.getByRole('list', { name: 'Lives in', exact: true })

export function time(shared) {
  describe('time', () => {
    test('a profile is shown as it was on a day, and editing is off meanwhile', async () => {
      const { server, browser } = shared
      const { id } = await mover(server)
      const page = await visit(browser, server)
      await go(page, `/entities/${id}`)
      await homes(page).getByText('Rome').waitFor()
      await page.getByLabel('Date', { exact: true }).fill('2022-06-01')
      await page.getByText('As it was on 1 Jun 2022').waitFor()
      await homes(page).getByText('Oslo').waitFor()
      await homes(page).getByText('Rome').waitFor({ state: 'detached' })
      assert.equal(await page.getByRole('button', { name: 'Edit', exact: true }).count(), 0)
      assert.ok(page.url().endsWith('?valid_at=2022-06-01'), page.url())
      await accessible(page, 'a profile as it was on a day')
      await page.reload()
      await settled(page)
      await homes(page).getByText('Oslo').waitFor()
      // nothing was believed then, because everything was stored today
      await page.getByRole('checkbox', { name: 'as believed then', exact: true }).check()
      await page.getByText('No facts for that day').waitFor()
      await page.getByRole('button', { name: 'Now', exact: true }).click()
      await homes(page).getByText('Rome').waitFor()
      await page.getByRole('button', { name: 'Edit', exact: true }).waitFor()
      assert.deepEqual(page.problems, [])
      await page.context().close()
    })

    test('the slider moves by keyboard', async () => {
      const { server, browser } = shared
      const { id } = await mover(server)
      const page = await visit(browser, server)
      await go(page, `/entities/${id}`)
      const slider = page.getByRole('slider', { name: 'As it was on', exact: true })
      await slider.focus()
      await page.keyboard.press('Home')
      await page.waitForURL(/valid_at=\d{4}-\d\d-\d\d/)
      await homes(page).getByText('Oslo').waitFor()
      await page.keyboard.press('End')
      await page.waitForURL((url) => url.search === '')
      await homes(page).getByText('Rome').waitFor()
      assert.deepEqual(page.problems, [])
      await page.context().close()
    })

    test('the graph is shown as it was on a day', async () => {
      const { server, browser } = shared
      const [name, other] = [unique('Una'), unique('Vera')]
      const person = async (canonical_name) =>
        (await server.tool('entity_create', { canonical_name, entity_type: 'person' })).entity_id
      const [from, to] = [await person(name), await person(other)]
      await server.tool('memory_store_fact', {
        subject: name,
        predicate: 'works_with',
        content: `${name} works with ${other}`,
        entity_id: from,
        object_entity_id: to,
        valid_from: '2020',
      })
      const page = await visit(browser, server)
      await go(page, `/graph?butler=demo&entity=${from}`)
      const relations = page.getByRole('list', { name: `Relations of ${name}`, exact: true })
      await relations.getByRole('button', { name: other }).waitFor()
      await page.getByLabel('Date', { exact: true }).fill('2019-06-01')
      await page.getByText('As it was on 1 Jun 2019').waitFor()
      await relations.waitFor({ state: 'detached' })
      await page.getByLabel('Date', { exact: true }).fill('2021-06-01')
      await relations.getByRole('button', { name: other }).waitFor()
      await accessible(page, 'the graph as it was on a day')
      await page.getByRole('link', { name: 'Open the profile', exact: true }).click()
      await page.waitForURL(`**/entities/${from}?valid_at=2021-06-01`)
      assert.deepEqual(page.problems, [])
      await page.context().close()
    })

    test('a fact shows the timeline of its key, and each period opens its fact', async () => {
      const { server, browser } = shared
      const { oslo, rome, bern } = await mover(server)
      const page = await visit(browser, server)
      await go(page, `/memory/facts/${rome}`)
      const periods = page.getByRole('list', { name: 'Periods, earliest first', exact: true }).getByRole('link')
      assert.deepEqual(
        await periods.evaluateAll((links) => links.map((link) => link.getAttribute('href').split('/').pop())),
        [oslo, rome, bern],
      )
      const texts = await periods.allInnerTexts()
      assert.match(texts[0], /until 1 Mar 2023/)
      assert.match(texts[1], /since Mar 2023.*now/s)
      assert.match(texts[2], /from 2090/)
      await accessible(page, 'the timeline')
      await page.setViewportSize({ width: 390, height: 844 })
      await fits(page, 'the timeline at 390 px')
      await periods.first().click()
      await page.waitForURL(`**/memory/facts/${oslo}`)
      assert.deepEqual(page.problems, [])
      await page.context().close()
    })

    test('dates are edited; a date that is rejected is reported beside its field', async () => {
      const { server, browser } = shared
      const { rome } = await mover(server)
      const page = await visit(browser, server)
      await go(page, `/memory/facts/${rome}`)
      await page.getByRole('button', { name: 'Edit', exact: true }).click()
      const from = page.getByRole('textbox', { name: 'Valid from', exact: true })
      assert.equal(await from.inputValue(), '2023-03')
      await from.fill('soon')
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByRole('alert').filter({ hasText: 'not a date' }).waitFor()
      assert.equal(await from.getAttribute('aria-invalid'), 'true')
      await accessible(page, 'the edit form with an error')
      await from.fill('2022-05')
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.waitForURL((url) => !url.pathname.endsWith(rome))
      const edited = new URL(page.url()).pathname.split('/').pop()
      await page.locator('main header').getByText('since May 2022').waitFor()
      assert.equal((await server.api(`/api/memory/facts/${edited}`)).data.valid_from, '2022-05')
      // the refused request is in the console, as every failed one
      assert.deepEqual(
        page.problems.filter((text) => !/status of 4\d\d/.test(text)),
        [],
      )
      await page.context().close()
    })

    test('the recall lab asks about a time, and tells which words of time it understood', async () => {
      const { server, browser } = shared
      await mover(server)
      const page = await visit(browser, server)
      await go(page, '/recall?butler=demo&q=Did%20Tove%20live%20in%20Oslo%20in%202022%3F')
      await page.getByText('Understood “in 2022”').waitFor()
      await page.getByRole('textbox', { name: 'Valid at', exact: true }).fill('2022')
      await page.getByRole('button', { name: 'Recall', exact: true }).click()
      await page.waitForURL(/valid_at=2022/)
      await page.getByText('until 1 Mar 2023').first().waitFor()
      assert.deepEqual(page.problems, [])
      await page.context().close()
    })
  })
}
