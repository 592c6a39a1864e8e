// A machine that stalls must not decide whether a change lands: a test that fails is repeated nodeTest, alone (they run one
// after the other), and one that needed it is named loudly, since it is a fault to be mended.
import { after, test as nodeTest } from 'node:test'
import { leave } from './browser.mjs'

const flaky = []

after(() => {
  if (flaky.length > 0)
    console.error(`\n── PASSED ON THE SECOND TRY, which is a fault to be mended: ${flaky.join('; ')}\n`)
})

export function test(name, body) {
  nodeTest(name, async (context) => {
    try {
      await body()
    } catch (first) {
      console.error(`\n── failed, and repeated alone: ${name}\n${first?.stack ?? first}\n`)
      await leave()
      await body()
      flaky.push(name)
      context.diagnostic('passed on the second try')
    }
  })
}
