import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { go, isLive, Server, visit } from '../browser.mjs'
import { accessible, fits } from '../checks.mjs'
import { test } from '../retry.mjs'

/** Opens a page and signs in with a token. */
async function signedIn(browser, server, token) {
  const page = await visit(browser, server)
  await page.goto('/settings?tab=access')
  await page.getByLabel('Token', { exact: true }).fill(token)
  await page.getByRole('button', { name: 'Use this token', exact: true }).click()
  await page.getByText('Tokens are on.').waitFor()
  return page
}

/** Creates a token in the dashboard and returns it. `look` checks the dialog that shows it. */
async function createToken(page, name, rights, look) {
  await page.getByRole('button', { name: 'New token', exact: true }).click()
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill(name)
  if (rights) await page.getByRole('combobox', { name: 'Rights', exact: true }).selectOption(rights)
  await page.getByRole('button', { name: /^(Turn tokens on|Create token)$/ }).click()
  await page.getByRole('button', { name: 'Copy the new token', exact: true }).click()
  const token = await page.evaluate(() => navigator.clipboard.readText())
  assert.match(token, /^btl_/)
  await look?.(token)
  await page.getByRole('button', { name: 'Done', exact: true }).click()
  await page.getByText(token).waitFor({ state: 'detached' })
  return token
}

/** The first token turns tokens on, so these tests use their own servers. */
export function access(shared) {
  describe('tokens', () => {
    test('tokens are created, used and revoked; the tab that creates the first one stays signed in', async () => {
      const server = await Server.start({ demo: false })
      try {
        const fact = await server.tool(
          'memory_store_fact',
          { subject: 'Ada', predicate: 'likes', content: 'engines' },
          'general',
        )
        const { id: rule } = await server.tool('memory_store_rule', { content: 'Oil the engine' }, 'general')
        const page = await visit(shared.browser, server)
        await go(page, '/settings?tab=access')
        await page.getByText('Tokens are off').waitFor()
        await page.getByRole('button', { name: 'New token', exact: true }).click()
        await page.getByText('This is the first token.').waitFor()
        await accessible(page, 'the first token')
        await page.getByRole('button', { name: 'Cancel', exact: true }).click()
        server.token = await createToken(page, 'mine')
        await page.getByText('Tokens are on. This tab’s token grants read, write, admin in tenant default.').waitFor()
        assert.equal((await fetch(`${server.url}/api/server`)).status, 401, 'every request requires a token now')
        await isLive(page).waitFor()
        const list = page.getByRole('list', { name: 'Tokens' })
        await list.getByText('this tab').waitFor()
        const reader = await createToken(page, 'only looking', 'read', async (token) => {
          await page.getByRole('button', { name: 'Copy the Claude Code configuration with the token' }).click()
          const ready = await page.evaluate(() => navigator.clipboard.readText())
          const header = `--header "Authorization: Bearer ${token}"`
          assert.equal(ready, `claude mcp add --transport http butler-memory ${server.url}/mcp ${header}`)
          await accessible(page, 'a token for a colleague')
        })
        await list.getByText('only looking').waitFor()
        const made = await fetch(`${server.url}/api/tokens`, {
          method: 'POST',
          headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ name: 'only writing', rights: ['write'] }),
        })
        assert.ok(made.ok, await made.text())
        await accessible(page, 'the tokens')
        await fits(page, 'the tokens')

        await go(page, '/recall?q=engines')
        const asks = page.getByRole('combobox', { name: 'Who asks', exact: true })
        const reading = await asks.getByRole('option', { name: /^As only looking: read/ }).getAttribute('value')
        await asks.selectOption(reading)
        await page.getByRole('heading', { name: 'Recalled memories' }).waitFor()
        const writing = await asks.getByRole('option', { name: /^As only writing: write/ }).getAttribute('value')
        await asks.selectOption(writing)
        await page.getByText(/requires the right `read`; the token has write/).waitFor()
        page.problems.length = 0
        await go(page, '/settings?tab=access')

        const guest = await signedIn(shared.browser, server, reader)
        await guest.getByText('This tab’s token grants read in tenant default.').waitFor()
        assert.equal(await guest.getByRole('button', { name: 'New token', exact: true }).count(), 0)
        assert.equal(
          await guest.getByRole('button', { name: /^Run now/ }).count(),
          0,
          'no action that the server would reject',
        )
        // the reason appears once the data has loaded
        await guest.getByText('This requires a token with the admin right.').first().waitFor()
        await guest.getByRole('link', { name: 'Facts', exact: true }).click()
        await guest.getByRole('list', { name: 'Facts' }).waitFor()
        assert.equal(await guest.getByRole('button', { name: /^(Confirm|Edit)/ }).count(), 0)
        for (const path of [`/memory/facts/${fact.id}`, `/memory/rules/${rule}`]) {
          await go(guest, path)
          await guest.getByText('Your token is read-only.').waitFor()
          assert.equal(
            await guest.getByRole('button', { name: /Confirm|Edit|Forget|helpful|harmful/ }).count(),
            0,
            path,
          )
        }
        await accessible(guest, 'the page for a read-only token')

        await page.getByRole('button', { name: 'Revoke token only looking', exact: true }).click()
        await page.getByRole('button', { name: 'Revoke permanently', exact: true }).click()
        await list.getByText('revoked').waitFor()
        await go(guest, '/memory')
        await guest.getByText('The token was rejected').waitFor()
        assert.deepEqual(page.problems, [])
        await guest.context().close()
        await page.context().close()
      } finally {
        await server.stop()
      }
    })

    test('with tokens on, the page asks for one, rejects an invalid one and works with a valid one', async () => {
      const server = await Server.start({ demo: false })
      try {
        const { stdout } = await server.butler(
          'token',
          'create',
          '--tenant',
          'default',
          '--rights',
          'read,write',
          '--json',
        )
        const { token } = JSON.parse(stdout)
        const page = await visit(shared.browser, server)
        await page.goto('/memory')
        await page.getByRole('heading', { name: 'This server requires a token' }).waitFor()
        await accessible(page, 'the token entry')
        await page.getByLabel('Token', { exact: true }).fill('nonsense')
        await page.getByRole('button', { name: 'Use this token', exact: true }).click()
        await page.getByText('The token was rejected: unknown token.').waitFor()
        await page.getByLabel('Token', { exact: true }).fill(token)
        await page.getByRole('button', { name: 'Use this token', exact: true }).click()
        await page.getByText('Nothing is remembered yet.').waitFor()
        await page.getByText('butler connect claude-code', { exact: true }).waitFor()
        await isLive(page).waitFor()
        assert.equal(await page.getByRole('button', { name: /^Tenant/ }).count(), 0, 'a token belongs to one tenant')
        await go(page, '/settings?tab=access')
        await page.getByText('Tokens are on. This tab’s token grants read, write in tenant default.').waitFor()
        await page.context().close()
        const { stdout: blind } = await server.butler(
          'token',
          'create',
          '--tenant',
          'default',
          '--rights',
          'write',
          '--json',
        )
        const other = await visit(shared.browser, server)
        await other.goto('/memory')
        await other.getByLabel('Token', { exact: true }).fill(JSON.parse(blind).token)
        await other.getByRole('button', { name: 'Use this token', exact: true }).click()
        await other.getByText('this requires the right `read`').waitFor()
        await other.context().close()
      } finally {
        await server.stop()
      }
    })
  })
}
