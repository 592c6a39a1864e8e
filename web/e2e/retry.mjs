// Retries a failed test once, because a busy machine may stall. A test that passes only then is flaky and must be
// fixed: it is reported, and with CI=true it fails.
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
      if (process.env.CI === 'true') throw new Error('flaky: passed on the second attempt', { cause: first })
      context.diagnostic('passed on the second attempt')
    }
  })
}
