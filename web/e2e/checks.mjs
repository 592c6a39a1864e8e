// Automated checks of accessibility and layout.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Asserts that axe finds no violation of WCAG 2.2 A and AA or of its best practices. */
export async function accessible(page, where) {
  // Evaluated rather than added as a script element, which the content security policy forbids. Once for each loaded
  // page, because compiling it takes time.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe)
  const violations = await page.evaluate(async () => {
    const options = {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
      // finds the same violations, but describes only one element for each other result, which nobody reads
      resultTypes: ['violations'],
    }
    const { violations } = await globalThis.axe.run(document, options)
    return violations.map(
      ({ id, nodes }) =>
        `${id}: ${nodes
          .slice(0, 3)
          .map((node) => `${node.target} ${node.failureSummary}`)
          .join(' | ')}`,
    )
  })
  assert.deepEqual(violations, [], `${where} has accessibility violations`)
}

/** Asserts that the page does not scroll horizontally. A chart takes the new width a moment after the window does. */
export async function fits(page, where) {
  const fitting = () => document.documentElement.scrollWidth <= document.documentElement.clientWidth
  await page.waitForFunction(fitting, null, { timeout: 3000 }).catch(() => {})
  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  assert.ok(over <= 0, `${where} is ${over} px wider than the screen`)
}
