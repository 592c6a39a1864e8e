// Tests the dashboard in a real browser: work that spans pages, access and the first visit. See dashboard.test.mjs.
import { onOneServer } from './server.mjs'
import { access } from './suites/access.mjs'
import { commands } from './suites/commands.mjs'
import { entities } from './suites/entities.mjs'
import { firstVisit } from './suites/first-visit.mjs'
import { injection } from './suites/injection.mjs'
import { keyboard } from './suites/keyboard.mjs'
import { lab } from './suites/lab.mjs'
import { live } from './suites/live.mjs'
import { review } from './suites/review.mjs'
import { time } from './suites/time.mjs'
import { transfer } from './suites/transfer.mjs'
import { trust } from './suites/trust.mjs'

onOneServer('work in the dashboard', [
  entities,
  time,
  keyboard,
  injection,
  trust,
  review,
  lab,
  transfer,
  commands,
  live,
  access,
  firstVisit,
])
