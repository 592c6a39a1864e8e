import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { go, visit } from '../browser.mjs'
import { accessible } from '../checks.mjs'
import { test } from '../retry.mjs'

const fact = async (server, content) => {
  const stored = await server.tool('memory_store_fact', {
    subject: 'browser test',
    predicate: `p${Math.random()}`,
    content,
    permanence: 'volatile',
  })
  return stored.id
}

export function actions(shared) {
  describe('actions', () => {
    test('9.3 and 9.13 editing a fact supersedes it, shows the difference and can be undone', async () => {
      const { server, browser } = shared
      const id = await fact(server, 'the blue bicycle stands in the cellar')
      const page = await visit(browser, server)
      await go(page, `/memory/facts/${id}`)
      await page.getByRole('button', { name: 'Edit', exact: true }).click()
      const content = page.getByRole('textbox', { name: 'Content', exact: true })
      assert.ok(await content.evaluate((field) => field === document.activeElement), 'editing opens in the text')
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
      const focused = await page.evaluate(() => document.activeElement?.textContent)
      assert.equal(focused?.trim(), 'Edit', 'the focus returns to where it was')
      await page.getByRole('button', { name: 'Edit', exact: true }).click()
      await page.getByRole('textbox', { name: 'Content', exact: true }).fill('the red bicycle stands in the cellar')
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.waitForURL((url) => !url.pathname.endsWith(id))
      await page.getByRole('heading', { level: 1, name: 'the red bicycle stands in the cellar' }).waitFor()
      await page.locator('del', { hasText: 'blue' }).waitFor()
      await page.locator('ins', { hasText: 'red' }).waitFor()
      assert.equal((await server.api(`/api/memory/facts/${id}`)).data.validity, 'superseded')
      await page.getByRole('button', { name: 'Undo', exact: true }).click()
      await page.getByText('Restored.').waitFor()
      assert.equal((await server.api(`/api/memory/facts/${id}`)).data.validity, 'active')
      await page.getByRole('heading', { level: 1, name: 'the blue bicycle stands in the cellar' }).waitFor()
      // The page may show its cached state until the new one arrives.
      await page
        .getByText(/superseded by|replaced by/i)
        .first()
        .waitFor({ state: 'hidden' })
      assert.deepEqual(page.problems, [])
      await page.context().close()
    })

    test('an edit changes subject, predicate, importance and tags', async () => {
      const { server, browser } = shared
      const id = await fact(server, 'the sledge is in the attic')
      const page = await visit(browser, server)
      await go(page, `/memory/facts/${id}`)
      await page.getByRole('button', { name: 'Edit', exact: true }).click()
      await page.getByRole('textbox', { name: 'Subject', exact: true }).fill('the old sledge')
      await page.getByRole('textbox', { name: 'Predicate', exact: true }).fill('stands in')
      await page.getByRole('spinbutton', { name: /^Importance/ }).fill('9')
      await page.getByRole('textbox', { name: /^Tags/ }).fill('winter, attic')
      await page.getByRole('combobox', { name: 'Permanence' }).selectOption('permanent')
      await accessible(page, 'the edit dialog')
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.waitForURL((url) => !url.pathname.endsWith(id))
      const { data } = await server.api(`/api/memory/facts/${new URL(page.url()).pathname.split('/').at(-1)}`)
      assert.deepEqual(
        [data.subject, data.predicate, data.importance, data.tags, data.permanence, data.source],
        ['the old sledge', 'stands in', 9, ['winter', 'attic'], 'permanent', 'person'],
      )
      await page.context().close()
    })

    test('9.3 and 9.13 forgetting a fact retracts it; undo and Restore bring it back', async () => {
      const { server, browser } = shared
      const id = await fact(server, 'to be forgotten and kept')
      const page = await visit(browser, server)
      await go(page, `/memory/facts/${id}`)
      await page.getByRole('button', { name: 'Forget', exact: true }).click()
      await page.getByText('Fact forgotten.').waitFor()
      assert.equal((await server.api(`/api/memory/facts/${id}`)).data.validity, 'retracted')
      await page.getByRole('button', { name: 'Undo', exact: true }).click()
      await page.getByText('Restored.').waitFor()
      assert.equal((await server.api(`/api/memory/facts/${id}`)).data.validity, 'active')
      await page.getByRole('button', { name: 'Forget', exact: true }).click()
      await page.getByRole('button', { name: 'Restore', exact: true }).click()
      await page.getByRole('button', { name: 'Confirm', exact: true }).waitFor()
      await page.context().close()
    })

    test('confirming a fading fact restores its confidence', async () => {
      const { server, browser } = shared
      const [row] = (await server.api('/api/memory/facts?validity=fading&limit=1')).data
      const page = await visit(browser, server)
      await go(page, `/memory/facts/${row.id}`)
      await page.locator('main header').getByText('fading').waitFor()
      await page.getByRole('button', { name: 'Confirm', exact: true }).click()
      await page.getByText('Confirmed.').waitFor()
      await page.locator('main header').getByText('active').waitFor()
      const { data } = await server.api(`/api/memory/facts/${row.id}`)
      assert.equal(data.state, 'active')
      assert.ok(data.effective_confidence > row.effective_confidence)
      await page.getByRole('button', { name: 'Undo', exact: true }).click()
      await page.getByText('Undone.', { exact: true }).waitFor()
      await page.locator('main header').getByText('fading').waitFor()
      const { data: undone } = await server.api(`/api/memory/facts/${row.id}`)
      assert.equal(undone.last_confirmed_at, row.last_confirmed_at)
      await page.context().close()
    })

    test('a dead letter is requeued on its own page', async () => {
      const { server, browser } = shared
      const [letter] = (await server.api('/api/memory/dead-letters?limit=1')).data
      const page = await visit(browser, server)
      await go(page, `/memory/episodes/${letter.id}`)
      await page.getByRole('button', { name: 'Requeue', exact: true }).click()
      await page.getByText('Requeued for the next consolidation run.').waitFor()
      await page.locator('main header').getByText('Pending').waitFor()
      assert.equal((await server.api(`/api/memory/episodes/${letter.id}`)).data.consolidation_status, 'pending')
      assert.deepEqual(page.problems, [])
      await page.context().close()
    })

    test('9.5 rules are marked, edited and forgotten; edits and forgetting can be undone', async () => {
      const { server, browser } = shared
      const { id } = await server.tool('memory_store_rule', { content: 'Knock before entering the greenhouse.' })
      const page = await visit(browser, server)
      await go(page, `/memory/rules/${id}`)
      await page.getByRole('button', { name: 'Mark helpful', exact: true }).click()
      await page.getByText('1 helpful').first().waitFor()
      await page.getByRole('button', { name: 'Undo', exact: true }).click()
      await page.getByText('Undone.', { exact: true }).waitFor()
      assert.equal((await server.api(`/api/memory/rules/${id}`)).data.success_count, 0)
      await page.getByRole('button', { name: 'Mark helpful', exact: true }).click()
      await page.getByText('1 helpful').first().waitFor()
      await page.getByRole('button', { name: 'Mark harmful', exact: true }).click()
      await page.getByRole('textbox', { name: 'What went wrong', exact: true }).fill('the door was made of glass')
      await page.getByRole('button', { name: 'Mark as harmful', exact: true }).click()
      await page.getByText('the door was made of glass').first().waitFor()
      await page.getByRole('button', { name: 'Undo', exact: true }).click()
      await page.getByRole('region', { name: 'Reasons for harmful marks' }).waitFor({ state: 'detached' })
      assert.equal((await server.api(`/api/memory/rules/${id}`)).data.harmful_count, 0)
      await page.getByRole('button', { name: 'Edit', exact: true }).click()
      await page.getByRole('textbox', { name: 'Content', exact: true }).fill('Call before entering the greenhouse.')
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByRole('heading', { level: 1, name: 'Call before entering the greenhouse.' }).waitFor()
      assert.equal((await server.api(`/api/memory/rules/${id}`)).data.maturity, 'candidate')
      await page.getByRole('button', { name: 'Undo', exact: true }).click()
      await page.getByRole('heading', { level: 1, name: 'Knock before entering the greenhouse.' }).waitFor()
      await page.getByRole('button', { name: 'Forget', exact: true }).click()
      await page.getByText('Rule forgotten.').waitFor()
      await page.getByRole('button', { name: 'Restore', exact: true }).click()
      await page.getByRole('button', { name: 'Confirm', exact: true }).waitFor()
      await page.context().close()
    })

    test('settings: snippets can be copied, and a cheap job runs and reports its result', async () => {
      const { server, browser } = shared
      const page = await visit(browser, server)
      await go(page, '/settings')
      await page.getByRole('button', { name: 'Copy the Claude Code configuration', exact: true }).click()
      const copied = await page.evaluate(() => navigator.clipboard.readText())
      assert.ok(copied.includes(`${server.url}/mcp`), copied)
      await page.getByRole('button', { name: 'Jobs', exact: true }).click()
      await page.getByRole('button', { name: 'Run now: decay sweep of demo', exact: true }).click()
      await page.getByText(/Decay sweep: /).waitFor()
      await page.context().close()
    })
  })
}
