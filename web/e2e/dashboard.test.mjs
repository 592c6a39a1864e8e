// Tests the dashboard in a real browser against a real server with the demo data. The suites share one server, because
// filling it is slow. Test names start with the requirement they cover (9.1 to 9.13).
import { after, before, describe } from 'node:test'
import { launch, Server } from './browser.mjs'
import { access } from './suites/access.mjs'
import { actions } from './suites/actions.mjs'
import { commands } from './suites/commands.mjs'
import { entities } from './suites/entities.mjs'
import { everyPage } from './suites/every-page.mjs'
import { firstVisit } from './suites/first-visit.mjs'
import { injection } from './suites/injection.mjs'
import { keyboard } from './suites/keyboard.mjs'
import { lab } from './suites/lab.mjs'
import { live } from './suites/live.mjs'
import { manyButlers } from './suites/many-butlers.mjs'
import { pages } from './suites/pages.mjs'
import { review } from './suites/review.mjs'
import { tasks } from './suites/tasks.mjs'
import { time } from './suites/time.mjs'
import { transfer } from './suites/transfer.mjs'
import { trust } from './suites/trust.mjs'

const shared = { server: null, browser: null }

describe('the dashboard', () => {
  before(async () => {
    ;[shared.server, shared.browser] = await Promise.all([Server.start(), launch()])
  })
  after(async () => {
    await shared.browser?.close()
    await shared.server?.stop()
  })
  everyPage(shared)
  pages(shared)
  manyButlers(shared)
  actions(shared)
  tasks(shared)
  entities(shared)
  time(shared)
  keyboard(shared)
  injection(shared)
  trust(shared)
  review(shared)
  lab(shared)
  transfer(shared)
  commands(shared)
  live(shared)
  access(shared)
  firstVisit(shared)
})
