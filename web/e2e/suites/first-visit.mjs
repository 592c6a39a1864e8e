import assert from 'node:assert/strict'
import { go, Server, visit } from '../browser.mjs'
import { accessible, fits } from '../checks.mjs'
import { test } from '../retry.mjs'

/** An empty tenant looks like a new installation. */
export function firstVisit(shared) {
  test('the first visit shows how to connect a client', async () => {
    const { server, browser } = shared
    const page = await visit(browser, server)
    await go(page, '/memory')
    await page.getByRole('button', { name: /^Tenant/ }).click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('newcomer')
    await page.getByRole('button', { name: 'Switch tenant', exact: true }).click()
    await page.getByText('Nothing is remembered yet.').waitFor()
    const connect = `butler connect claude-code --data-dir '${server.data}' --tenant newcomer`
    await page.getByText(connect, { exact: true }).waitFor()
    const steps = page.getByRole('list', { name: 'Steps' })
    await steps.getByText('The first episode is stored: waiting').waitFor()
    await accessible(page, 'the first visit')
    for (const [path, title] of [
      ['Episodes', 'No episodes'],
      ['Entities', 'No matching entities'],
      ['Timeline', 'No events'],
    ]) {
      await page.getByRole('link', { name: path, exact: true }).click()
      await page.getByText(title).waitFor()
    }
    await page.getByRole('link', { name: 'Overview', exact: true }).click()
    await steps.waitFor()
    const request_context = { tenant_id: 'newcomer' }
    await server.tool('memory_store_episode', { content: 'hello', butler: 'demo', request_context })
    // the overview appears as soon as the page hears of the episode, below the steps that are left
    await page.getByRole('heading', { name: 'Agent activity', exact: true }).waitFor()
    await steps.getByText('The first episode is stored: done').waitFor()
    await page.reload()
    await steps.getByText('The first fact is learned: waiting').waitFor()
    await page.getByRole('button', { name: 'Hide these steps', exact: true }).click()
    await steps.waitFor({ state: 'hidden' })
    await page.reload()
    await page.getByRole('heading', { name: 'Agent activity', exact: true }).waitFor()
    assert.equal(await steps.count(), 0, 'what was hidden stays hidden')
    assert.deepEqual(page.problems, [])
    await page.context().close()
  })

  test('the steps of the first visit end when all four are done', async () => {
    const runtime = '[butler.runtime]\ntype = "command"\ncommand = ["sh", "-c", "cat > /dev/null; echo ready"]\n'
    const server = await Server.start({ demo: false, roster: { general: runtime } })
    try {
      const page = await visit(shared.browser, server)
      await go(page, '/memory')
      const steps = page.getByRole('list', { name: 'Steps' })
      await steps.getByText('An agent connects: waiting').waitFor()
      await server.tool('memory_store_episode', { content: 'Ada likes engines', butler: 'general' }, 'general')
      await steps.getByText(/^An agent connected.*: done$/).waitFor()
      await steps.getByText('The first episode is stored: done').waitFor()
      await page.getByRole('button', { name: 'Test the LLM', exact: true }).click()
      await steps.getByText('The LLM answers: done').waitFor()
      await server.tool('memory_store_fact', { subject: 'Ada', predicate: 'likes', content: 'engines' }, 'general')
      await steps.waitFor({ state: 'hidden' })
      await page.getByRole('list', { name: 'New this week' }).getByText('engines').waitFor()
      assert.deepEqual(page.problems, [])
      await page.context().close()
    } finally {
      await server.stop()
    }
  })

  test('the first visit on a narrow screen: the tenant is in the menu, and the snippet fits', async () => {
    const { server, browser } = shared
    const page = await visit(browser, server, { width: 390, height: 844 })
    await go(page, '/memory')
    await page.getByRole('button', { name: 'Pages', exact: true }).click()
    await page.getByRole('button', { name: /^Tenant/ }).click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('latecomer')
    await page.getByRole('button', { name: 'Switch tenant', exact: true }).click()
    await page.getByText('Nothing is remembered yet.').waitFor()
    await fits(page, 'the first visit at 390 px')
    assert.deepEqual(page.problems, [])
    await page.context().close()
  })
}
