import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { go, visit } from '../browser.mjs'
import { accessible } from '../checks.mjs'
import { test } from '../retry.mjs'

/** Moves with j until the focus is on the row with this text. */
async function moveTo(page, text) {
  const row = page.locator('main [data-row]').filter({ hasText: text }).first()
  await row.waitFor()
  await row.focus()
  return row
}

export function review(shared) {
  describe('reviewing', () => {
    test('fading memories are confirmed, edited and forgotten with the keyboard, and undone', async () => {
      const { server, browser } = shared
      const [first, second] = (
        await server.api('/api/memory/facts?validity=fading&sort=least_confident&limit=2&butler=demo')
      ).data
      const page = await visit(browser, server)
      await go(page, '/inbox')
      await moveTo(page, first.content)
      await page.keyboard.press('y')
      await page.getByText('Confirmed.').waitFor()
      await page.keyboard.press('u')
      await page.getByText('Undone.', { exact: true }).waitFor()
      const { data: undone } = await server.api(`/api/memory/facts/${first.id}`)
      assert.deepEqual([undone.state, undone.last_confirmed_at], ['fading', first.last_confirmed_at])
      await moveTo(page, second.content)
      await page.keyboard.press('n')
      await page.getByText('Fact forgotten.').waitFor()
      await page.keyboard.press('u')
      await page.getByText('Restored.').waitFor()
      await moveTo(page, first.content)
      await page.keyboard.press('e')
      await page.getByRole('dialog', { name: 'Edit the fact' }).waitFor()
      await page.keyboard.press('Escape')
      assert.deepEqual(page.problems, [])
      await page.context().close()
    })

    test('a dead letter is requeued from the inbox with the keyboard', async () => {
      const { server, browser } = shared
      const { data } = await server.api('/api/memory/dead-letters?limit=1')
      const page = await visit(browser, server)
      await go(page, '/inbox')
      const row = page.getByRole('region', { name: 'Dead letters' }).locator('[data-row]')
      await row.filter({ has: page.locator(`a[href$="${data[0].id}"]`) }).focus()
      await page.keyboard.press('y')
      await page.getByText('Requeued for the next consolidation run.').waitFor()
      assert.equal((await server.api(`/api/memory/episodes/${data[0].id}`)).data.consolidation_status, 'pending')
      assert.deepEqual(page.problems, [])
      await page.context().close()
    })

    test('a conflict is resolved by another scope for B, and undone with one request', async () => {
      const { server, browser } = shared
      const subject = `Anna${Date.now()}`
      for (const [scope, content] of [
        ['global', 'Wants to weigh 72 kg'],
        ['health', 'Wants to weigh 75 kg'],
      ])
        await server.tool('memory_store_fact', { subject, predicate: 'weight_goal', content, scope })
      const page = await visit(browser, server)
      await go(page, '/inbox')
      await moveTo(page, subject)
      await page.keyboard.press('s')
      await page.getByRole('textbox', { name: 'Scope of B', exact: true }).fill('sport')
      await page.getByRole('dialog').getByRole('button', { name: 'Keep both', exact: true }).click()
      await page.getByText('Kept both.').waitFor()
      const scopes = async () =>
        (await server.api(`/api/memory/facts?subject=${subject}`)).data.map((fact) => fact.scope).sort()
      assert.ok((await scopes()).includes('sport'))
      const requests = []
      page.on('request', (request) => request.method() === 'POST' && requests.push(new URL(request.url()).pathname))
      await page.keyboard.press('u')
      await page.getByText('Undone. The conflict is open again.').waitFor()
      assert.equal(requests.length, 1, `${requests}`)
      assert.deepEqual(await scopes(), ['global', 'health'])
      await page.locator('main [data-row]').filter({ hasText: subject }).waitFor()
      assert.deepEqual(page.problems, [])
      await page.context().close()
    })

    test('a session page shows what was stored and served, and a fact says who read it', async () => {
      const { server, browser } = shared
      const word = `Quokka${Date.now()}`
      const session_id = crypto.randomUUID()
      const request_context = { session_id }
      const content = `The parrot is called ${word}`
      const { id } = await server.tool('memory_store_fact', { subject: 'parrot', predicate: 'name', content })
      await server.tool('memory_store_episode', { content: `Talked about ${word}`, butler: 'demo', session_id })
      await server.tool('memory_recall', { topic: word, request_context })
      const page = await visit(browser, server)
      await go(page, `/memory/facts/${id}`)
      await page.getByRole('list', { name: 'Who read it' }).getByRole('link', { name: 'session' }).first().click()
      await page.waitForURL(`**/memory/sessions/${session_id}`)
      await page.getByText(`Talked about ${word}`).waitFor()
      await page.getByRole('list', { name: 'Calls' }).getByRole('link', { name: word }).first().waitFor()
      await accessible(page, 'a session that was given memories')
      assert.deepEqual(page.problems, [])
      await page.context().close()
    })
  })
}
