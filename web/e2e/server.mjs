// Runs suites of browser tests against one real server with the demo data, because filling it is slow.
import { after, before, describe } from 'node:test'
import { launch, Server } from './browser.mjs'

export function onOneServer(name, suites) {
  const shared = { server: null, browser: null }
  describe(name, () => {
    before(async () => {
      ;[shared.server, shared.browser] = await Promise.all([Server.start(), launch()])
    })
    after(async () => {
      await shared.browser?.close()
      await shared.server?.stop()
    })
    for (const suite of suites) suite(shared)
  })
}
