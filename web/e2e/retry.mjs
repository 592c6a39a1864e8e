// Retries a failed test once, because a busy machine may stall, and reports the tests that passed only then: they are
// flaky and must be fixed.
import { after, test as nodeTest } from 'node:test'
import { closeVisits } from './browser.mjs'

const flaky = []

after(() => {
  if (flaky.length > 0) console.error(`\n── FLAKY, passed on the second attempt: ${flaky.join('; ')}\n`)
})

export function test(name, body) {
  nodeTest(name, async (context) => {
    try {
      await body()
    } catch (first) {
      console.error(`\n── failed, retrying: ${name}\n${first?.stack ?? first}\n`)
      await closeVisits()
      await body()
      flaky.push(name)
      context.diagnostic('passed on the second attempt')
    }
  })
}
