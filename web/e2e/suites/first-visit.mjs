import assert from 'node:assert/strict'
import { go, visit } from '../browser.mjs'
import { accessible, fits } from '../checks.mjs'
import { test } from '../retry.mjs'

/** A tenant nobody has written to looks as a new installation does. */
export function firstVisit(shared) {
  test('the first visit: nothing is remembered, and the snippet that connects a client is there', async () => {
    const { server, browser } = shared
    const page = await visit(browser, server)
    await go(page, '/memory')
    await page.getByRole('button', { name: /^Tenant/ }).click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('newcomer')
    await page.getByRole('button', { name: 'Look at this tenant', exact: true }).click()
    await page.getByText('Nothing is remembered yet.').waitFor()
    await page.getByText(`claude mcp add --transport http butler-memory ${server.url}/mcp`).waitFor()
    await accessible(page, 'the first visit')
    for (const [path, words] of [
      ['Episodes', 'No episode is kept'],
      ['Entities', 'No entity fits'],
      ['Timeline', 'Nothing happened'],
    ]) {
      await page.getByRole('link', { name: path, exact: true }).click()
      await page.getByText(words).waitFor()
    }
    assert.deepEqual(page.problems, [])
    await page.context().close()
  })

  test('the first visit on a narrow screen: the tenant is behind the pages, and the snippet fits', async () => {
    const { server, browser } = shared
    const page = await visit(browser, server, { width: 390, height: 844 })
    await go(page, '/memory')
    await page.getByRole('button', { name: 'Pages', exact: true }).click()
    await page.getByRole('button', { name: /^Tenant/ }).click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('newcomer')
    await page.getByRole('button', { name: 'Look at this tenant', exact: true }).click()
    await page.getByText('Nothing is remembered yet.').waitFor()
    await fits(page, 'the first visit at 390 px')
    assert.deepEqual(page.problems, [])
    await page.context().close()
  })
}
