// Accessibility and layout, as a machine can judge them.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Zero violations of WCAG 2.2 A and AA and of the best practices. */
export async function accessible(page, where) {
  // not a script element: the page's policy forbids those, as it should
  await page.evaluate(axe)
  const violations = await page.evaluate(async () => {
    const options = { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }
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

/** Nothing sticks out to the side. */
export async function fits(page, where) {
  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  assert.ok(over <= 0, `${where} is ${over} px wider than the screen`)
}
