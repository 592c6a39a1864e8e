// Tests the dashboard in a real browser: each page and what a person does there. workflows.test.mjs has the rest, and
// runs at the same time with a server of its own. Test names start with the requirement they cover (9.1 to 9.13).
import { onOneServer } from './server.mjs'
import { actions } from './suites/actions.mjs'
import { everyPage } from './suites/every-page.mjs'
import { manyButlers } from './suites/many-butlers.mjs'
import { pages } from './suites/pages.mjs'
import { tasks } from './suites/tasks.mjs'

onOneServer('the pages of the dashboard', [everyPage, pages, manyButlers, actions, tasks])
