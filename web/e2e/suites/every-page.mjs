import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { go, visit } from '../browser.mjs'
import { accessible, fits } from '../checks.mjs'
import { test } from '../retry.mjs'
import { related } from './entities.mjs'

/** A session that stored something. */
async function session(server) {
  const { data } = await server.api('/api/memory/episodes?limit=50')
  return data.find((episode) => episode.session_id).session_id
}

/** The paths of all pages, each with content. */
async function paths(server) {
  const first = async (path) => (await server.api(path)).data[0].id
  const { ids } = await related(server)
  return [
    '/memory',
    '/memory/changes',
    '/memory/health',
    '/facts',
    '/facts?validity=fading&sort=least_confident',
    '/rules',
    '/search?q=Maya',
    `/memory/facts/${await first('/api/memory/facts?validity=fading&limit=1')}`,
    `/memory/facts/${await first('/api/memory/facts?validity=superseded&limit=1')}`,
    `/memory/facts/${await first('/api/memory/facts?validity=expired&limit=1')}`,
    `/memory/facts/${await first('/api/memory/facts?validity=retracted&limit=1')}`,
    `/memory/rules/${await first('/api/memory/rules?sort=most_applied&limit=1')}`,
    `/memory/rules/${await first('/api/memory/rules?maturity=anti_pattern&limit=1')}`,
    '/inbox',
    '/memory/episodes',
    `/memory/episodes/${await first('/api/memory/episodes?limit=1')}`,
    `/memory/episodes/${await first('/api/memory/episodes?status=dead_letter&limit=1')}`,
    '/butlers/demo/memory',
    '/entities',
    `/entities/${await first('/api/memory/entities?sort=facts&limit=1')}`,
    `/entities/${(await server.api('/api/timeline?type=entity_merge&limit=1')).data[0].memory_id}`,
    `/entities/${ids[0]}`,
    `/entities/${ids[0]}?valid_at=2020-06-01&as_of=2020-06-01`,
    '/graph?butler=demo',
    `/graph?entity=${ids[0]}&butler=demo`,
    '/graph?butler=demo&valid_at=2020-06-01',
    '/graph?butler=general',
    '/timeline',
    '/recall?q=What%20should%20I%20cook%3F&butler=demo',
    '/recall?q=What%20was%20cooked%20in%20March%202024%3F&butler=demo&as_of=2025',
    '/recall?tab=compare&butler=demo',
    `/memory/sessions/${await session(server)}`,
    ...['connections', 'jobs', 'access', 'data', 'health'].map((tab) => `/settings?tab=${tab}`),
    '/nowhere',
  ]
}

export function everyPage(shared) {
  describe('every page', () => {
    for (const [width, height] of [
      [1440, 900],
      [390, 844],
    ]) {
      test(`at ${width} px, light and dark: no console errors, no overflow, no axe violations`, async () => {
        const page = await visit(shared.browser, shared.server, { width, height })
        for (const path of await paths(shared.server)) {
          const problems = page.problems.length
          await go(page, path)
          await fits(page, `${path} at ${width} px`)
          for (const theme of ['light', 'dark']) {
            await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
            await accessible(page, `${path} at ${width} px, ${theme}`)
          }
          const complaints = page.problems
            .slice(problems)
            .filter((text) => path !== '/nowhere' || !text.includes('404'))
          assert.deepEqual(complaints, [], `${path} logs to the console`)
        }
        await page.context().close()
      })
    }
  })
}
