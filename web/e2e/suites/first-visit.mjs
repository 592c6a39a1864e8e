import assert from 'node:assert/strict'
import { go, visit } from '../browser.mjs'
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
    // the page turns into the overview as soon as it hears of the episode
    await page.getByRole('heading', { name: 'Agent activity', exact: true }).waitFor()
    await steps.waitFor({ state: 'hidden' })
    assert.deepEqual(page.problems, [])
    await page.context().close()
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
