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
    await page.getByText(`claude mcp add --transport http butler-memory ${server.url}/mcp`).waitFor()
    await accessible(page, 'the first visit')
    for (const [path, title] of [
      ['Episodes', 'No episodes'],
      ['Entities', 'No matching entities'],
      ['Timeline', 'No events'],
    ]) {
      await page.getByRole('link', { name: path, exact: true }).click()
      await page.getByText(title).waitFor()
    }
    assert.deepEqual(page.problems, [])
    await page.context().close()
  })

  test('the first visit on a narrow screen: the tenant is in the menu, and the snippet fits', async () => {
    const { server, browser } = shared
    const page = await visit(browser, server, { width: 390, height: 844 })
    await go(page, '/memory')
    await page.getByRole('button', { name: 'Pages', exact: true }).click()
    await page.getByRole('button', { name: /^Tenant/ }).click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('newcomer')
    await page.getByRole('button', { name: 'Switch tenant', exact: true }).click()
    await page.getByText('Nothing is remembered yet.').waitFor()
    await fits(page, 'the first visit at 390 px')
    assert.deepEqual(page.problems, [])
    await page.context().close()
  })
}
