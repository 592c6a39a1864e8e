import assert from 'node:assert/strict'
import { test } from 'node:test'
import { go, isLive, launch, Server, visit } from '../browser.mjs'
import { accessible } from '../judge.mjs'

/** Tokens turn on with the first one, so this has a server of its own. */
export function access(shared) {
  test('with tokens on the page asks for one, refuses a wrong one, and works with a right one, live too', async () => {
    const server = await Server.start({ demo: false })
    try {
      const { stdout } = await server.butler('token', 'create', '--tenant', 'default', '--rights', 'read,write', '--json')
      const { token } = JSON.parse(stdout)
      const page = await visit(shared.browser ?? (await launch()), server)
      await page.goto('/memory')
      await page.getByRole('heading', { name: 'This server wants a token' }).waitFor()
      await accessible(page, 'the token entry')
      await page.getByLabel('Token', { exact: true }).fill('nonsense')
      await page.getByRole('button', { name: 'Use this token' }).click()
      await page.getByText('The token was refused').waitFor()
      await page.getByLabel('Token', { exact: true }).fill(token)
      await page.getByRole('button', { name: 'Use this token' }).click()
      await page.getByText('Nothing is remembered yet.').waitFor()
      await isLive(page).waitFor()
      assert.equal(await page.getByRole('button', { name: /^Tenant/ }).count(), 0, 'a token has its own tenant')
      await go(page, '/settings')
      await page.getByText('Tokens are on.').waitFor()
      await page.context().close()
    } finally {
      await server.stop()
    }
  })
}
