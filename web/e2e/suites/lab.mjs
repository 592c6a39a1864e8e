import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { go, visit } from '../browser.mjs'
import { accessible, fits } from '../checks.mjs'
import { test } from '../retry.mjs'

export function lab(shared) {
  describe('the recall lab', () => {
    test('a person asks why a memory is not recalled, and reads the reason and the remedy', async () => {
      const { server, browser } = shared
      const word = `Zebrafinch${Date.now()}`
      const { id } = await server.tool('memory_store_fact', {
        subject: word,
        predicate: 'lives in',
        content: `The cage of ${word} stands in the hall`,
        scope: 'garden',
      })
      const page = await visit(browser, server)
      await go(page, `/recall?q=Where%20is%20${word}&butler=demo&scope=travel`)
      await page.getByRole('searchbox', { name: 'Memory that is missing' }).fill(word)
      await page.getByRole('list', { name: 'Memories found' }).getByRole('button').first().click()
      await page.waitForURL(`**why=${id}**`)
      await page.getByText('✕ It is not recalled.').waitFor()
      const reasons = page.getByRole('list', { name: 'Reasons' })
      await reasons.getByText(/scope/i).first().waitFor()
      await reasons
        .getByText(/To change that/)
        .first()
        .waitFor()
      await accessible(page, 'why not')
      await fits(page, 'why not')
      await page.getByLabel('Scope', { exact: true }).fill('garden')
      await page.getByRole('button', { name: 'Recall', exact: true }).click()
      await page.getByText(/^✓ It is recalled, at place/).waitFor()
      assert.deepEqual(page.problems, [])
      await page.context().close()
    })

    test('two sets of weights are compared on the person’s own questions', async () => {
      const { server, browser } = shared
      const word = `Marmalade${Date.now()}`
      for (const [predicate, content, importance] of [
        ['recipe', `${word} with oranges`, 1],
        ['shelf', `the jars of ${word} in the cellar`, 10],
      ])
        await server.tool('memory_store_fact', { subject: word, predicate, content, importance })
      const page = await visit(browser, server)
      await go(page, `/recall?q=${word}%20with%20oranges&butler=demo`)
      await page.getByRole('checkbox', { name: `Expected: ${word} with oranges` }).check()
      await page.getByRole('button', { name: /^Compare weights/ }).click()
      await page.getByRole('list', { name: 'Questions' }).getByText(`${word} with oranges`).first().waitFor()
      for (const [name, values] of [
        ['A', ['1', '0', '0', '0']],
        ['B', ['0', '1', '0', '0']],
      ]) {
        const inputs = page.getByRole('group', { name: `Weights ${name}` }).getByRole('spinbutton')
        for (const [place, value] of values.entries()) await inputs.nth(place).fill(value)
      }
      const figures = page.getByRole('status').filter({ hasText: 'hit@1' })
      await figures.getByText(/^A/).waitFor()
      const shares = async () => [...(await figures.innerText()).matchAll(/hit@1\s+(\d+)%/g)].map((found) => found[1])
      await page.waitForFunction(() => {
        const text = document.querySelector('main [role="status"][aria-busy]')?.textContent ?? ''
        return /hit@1 100%.*hit@1 0%/s.test(text)
      })
      assert.deepEqual(await shares(), ['100', '0'])
      await page.reload()
      await page.getByRole('list', { name: 'Questions' }).getByText(`${word} with oranges`).first().waitFor()
      await accessible(page, 'the comparison')
      const saved = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Save as file', exact: true }).click()
      assert.equal((await saved).suggestedFilename(), 'recall-tests.json')
      assert.deepEqual(page.problems, [])
      await page.context().close()
    })
  })
}
