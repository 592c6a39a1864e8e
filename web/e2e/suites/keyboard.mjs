import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { go, settled, visit } from '../browser.mjs'
import { test } from '../retry.mjs'

export function keyboard(shared) {
  describe('the keyboard', () => {
    test('/ searches, j and k move, Enter opens, e edits, c confirms, ? shows the shortcuts', async () => {
      const page = await visit(shared.browser, shared.server)
      await go(page, '/facts')
      await page.getByRole('list', { name: 'Facts' }).waitFor()
      await page.keyboard.press('/')
      assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('type')), 'search')
      await page.keyboard.press('j')
      assert.equal(
        await page.getByRole('searchbox', { name: 'Search facts', exact: true }).inputValue(),
        'j',
        'shortcuts are off while typing',
      )
      await page.getByRole('searchbox', { name: 'Search facts', exact: true }).fill('')
      await page.evaluate(() => document.activeElement?.blur())
      const focused = () => page.evaluate(() => document.activeElement?.getAttribute('href'))
      await page.keyboard.press('j')
      const first = await focused()
      await page.keyboard.press('j')
      const second = await focused()
      assert.notEqual(first, second)
      await page.keyboard.press('k')
      assert.equal(await focused(), first)
      await page.keyboard.press('e')
      await page.getByRole('dialog').getByRole('textbox', { name: 'Content', exact: true }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
      await page.keyboard.press('?')
      await page.getByRole('dialog').getByText('confirm the memory').waitFor()
      await page.keyboard.press('Escape')
      await page.locator(`a[href="${first}"]`).first().focus()
      await page.keyboard.press('Enter')
      await page.waitForURL(`**${first}`)
      await settled(page)
      await page.keyboard.press('c')
      await page.getByText('Confirmed.').waitFor()
      assert.deepEqual(page.problems, [])
      await page.context().close()
    })

    test('the theme follows the system and can be set', async () => {
      const page = await visit(shared.browser, shared.server, { theme: 'dark' })
      await go(page, '/timeline')
      const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
      const dark = await paper()
      await page.getByRole('button', { name: /^Theme: system/ }).click()
      assert.notEqual(await paper(), dark, 'light overrides a dark system')
      await page.reload()
      await settled(page)
      assert.notEqual(await paper(), dark, 'the choice persists')
      await page.getByRole('button', { name: /^Theme: light/ }).click()
      assert.equal(await paper(), dark)
      await page.context().close()
    })

    test('on a narrow screen the pages are in a menu', async () => {
      const page = await visit(shared.browser, shared.server, { width: 390, height: 844 })
      await go(page, '/memory')
      await page.getByRole('button', { name: 'Pages', exact: true }).click()
      await page.getByRole('dialog').getByRole('link', { name: 'Entities', exact: true }).click()
      await page.waitForURL('**/entities')
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
      await page.context().close()
    })
  })
}
