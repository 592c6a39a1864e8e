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
      const count = page.locator('main').getByRole('status')
      const all = await count.innerText()
      await page.keyboard.press('/')
      assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('type')), 'search')
      await page.keyboard.press('j')
      assert.equal(
        await page.getByRole('searchbox', { name: 'Search facts', exact: true }).inputValue(),
        'j',
        'shortcuts are off while typing',
      )
      await count.getByText(/match/).waitFor()
      await page.getByRole('searchbox', { name: 'Search facts', exact: true }).fill('')
      await count.getByText(all, { exact: true }).waitFor()
      await page.evaluate(() => document.activeElement?.blur())
      const focused = () => page.evaluate(() => document.activeElement?.getAttribute('href'))
      await page.keyboard.press('j')
      const first = await focused()
      await page.keyboard.press('j')
      const second = await focused()
      assert.notEqual(first, second)
      await page.keyboard.press('k')
      assert.equal(await focused(), first)
      // the buttons of a row come after its text
      await page.locator('[data-row]:focus-within').getByTitle('Edit (e)').waitFor()
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

    test('the backdrop of a dialog covers the whole page', async () => {
      const page = await visit(shared.browser, shared.server, { width: 1440 })
      await go(page, '/facts')
      for (const key of ['?', 'Control+k']) {
        await page.keyboard.press(key)
        await page.getByRole('dialog').waitFor()
        const uncovered = await page.evaluate(() => {
          // an open dialog disables pointer events on the page, so elementFromPoint would skip what lies on top
          document.body.style.pointerEvents = 'auto'
          const { clientWidth: right, clientHeight: bottom } = document.documentElement
          // the gutter of the scroll bar is not covered: it has the colour of the backdrop instead
          const points = [1, right / 4, right - 20].flatMap((x) => [1, bottom - 2].map((y) => [x, y]))
          return points.filter(([x, y]) => !document.elementFromPoint(x, y)?.classList.contains('bg-backdrop'))
        })
        assert.deepEqual(uncovered, [], `${key} leaves points of the page uncovered`)
        await page.keyboard.press('Escape')
        await page.getByRole('dialog').waitFor({ state: 'hidden' })
      }
      await page.context().close()
    })

    test('the fonts are the server’s own', async () => {
      const page = await visit(shared.browser, shared.server)
      const fonts = []
      page.on('request', (request) => request.resourceType() === 'font' && fonts.push(new URL(request.url()).origin))
      await go(page, '/facts')
      await page.getByRole('list', { name: 'Facts' }).waitFor()
      const loaded = await page.evaluate(async () => {
        await document.fonts.ready
        return [...document.fonts].filter(({ status }) => status === 'loaded').map(({ family }) => family)
      })
      for (const family of ['Inter Variable', 'Source Serif 4 Variable'])
        assert.ok(
          loaded.some((name) => name.includes(family)),
          `${family} in ${loaded}`,
        )
      assert.deepEqual(new Set(fonts), new Set([shared.server.url]))
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
