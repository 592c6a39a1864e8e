// @vitest-environment happy-dom
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { router } from './router'

test('the server serves the dashboard for every route', () => {
  const source = readFileSync('../crates/server/src/dashboard/files.rs', 'utf8')
  const known = /const PAGES: &\[&str\] = &\[(.*?)\];/s
    .exec(source)?.[1]
    ?.match(/"[^"]*"/g)
    ?.map((name) => name.slice(1, -1))
  const first = Object.keys(router.routesByPath).map((path) => path.split('/')[1] ?? '')
  expect(new Set(known)).toEqual(new Set(first))
})
