import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { go, settled, visit } from '../browser.mjs'
import { accessible, fits } from '../judge.mjs'

/** Every page, with something on it. */
async function everyPage(server) {
  const first = async (path) => (await server.api(path)).data[0].id
  return [
    '/memory',
    '/memory?kind=rules',
    '/memory?kind=episodes',
    '/memory?validity=fading&sort=least_confident',
    `/memory/facts/${await first('/api/memory/facts?validity=fading&limit=1')}`,
    `/memory/facts/${await first('/api/memory/facts?validity=superseded&limit=1')}`,
    `/memory/rules/${await first('/api/memory/rules?sort=most_applied&limit=1')}`,
    `/memory/rules/${await first('/api/memory/rules?maturity=anti_pattern&limit=1')}`,
    '/memory/episodes',
    `/memory/episodes/${await first('/api/memory/episodes?limit=1')}`,
    '/butlers/demo/memory',
    '/entities',
    `/entities/${await first('/api/memory/entities?sort=facts&limit=1')}`,
    '/timeline',
    '/recall?q=What%20should%20I%20cook%3F&butler=demo',
    '/settings',
    '/nowhere',
  ]
}

export function pages(shared) {
  describe('every page', () => {
    for (const [width, theme] of [[1600, 'light'], [390, 'dark']]) {
      test(`at ${width} px, ${theme}: content, no console error, nothing wider than the screen, zero axe violations`, async () => {
        const page = await visit(shared.browser, shared.server, { width, theme, height: width < 500 ? 844 : 1000 })
        for (const path of await everyPage(shared.server)) {
          const problems = page.problems.length
          await go(page, path)
          await fits(page, `${path} at ${width} px`)
          await accessible(page, `${path} at ${width} px, ${theme}`)
          const new_ = page.problems.slice(problems).filter((text) => path !== '/nowhere' || !text.includes('404'))
          assert.deepEqual(new_, [], `${path} complains in the console`)
        }
        await page.context().close()
      })
    }
  })

  test('9.1 the overview shows the server’s counts: facts by permanence, rules by maturity, episodes, fading', async () => {
    const page = await visit(shared.browser, shared.server)
    const { data } = await shared.server.api('/api/memory/stats')
    await go(page, '/memory')
    const text = await page.locator('main').innerText()
    const shown = (value) => value.toLocaleString('en')
    assert.ok(data.facts.total + data.rules.total + data.episodes.total >= 2000, "the demo is large")
    for (const value of [data.facts.active + data.facts.fading, data.facts.by_permanence.stable, data.rules.by_maturity.proven, data.episodes.total, data.fading]) {
      assert.ok(text.includes(shown(value)), `${shown(value)} is on the page`)
    }
    await page.context().close()
  })

  test('9.2 facts are searched and filtered, the state is in the address, and a fact shows provenance and links', async () => {
    const page = await visit(shared.browser, shared.server)
    await go(page, '/memory')
    const [fact] = (await shared.server.api('/api/memory/facts?limit=1&sort=importance')).data
    await page.getByLabel('Search knowledge').fill(fact.subject)
    await page.waitForURL(/q=/)
    await page.getByLabel('Permanence').selectOption(fact.permanence)
    await page.waitForURL(/permanence=/)
    await page.getByRole('list', { name: 'Facts' }).getByText(fact.content.slice(0, 40), { exact: false }).first().waitFor()
    await page.reload()
    await settled(page)
    assert.equal(await page.getByLabel('Search knowledge').inputValue(), fact.subject, 'the address brings the state back')
    const learned = (await shared.server.api('/api/memory/facts?limit=50')).data.find((row) => row.source_episode_id)
    await go(page, `/memory/facts/${learned.id}`)
    await page.getByRole('heading', { name: 'Where it comes from' }).waitFor()
    await page.getByRole('button', { name: 'List', exact: true }).click()
    await page.getByText('learned from').first().waitFor()
    await page.getByRole('img', { name: /Confidence over the next 180 days/ }).waitFor()
    await page.context().close()
  })

  test('9.4 rules are filtered by maturity and show their application history', async () => {
    const page = await visit(shared.browser, shared.server)
    await go(page, '/memory?kind=rules')
    await page.getByLabel('Maturity').selectOption('proven')
    await page.waitForURL(/maturity=proven/)
    const rule = page.getByRole('list', { name: 'Rules' }).getByRole('link').first()
    await rule.click()
    await page.getByRole('heading', { name: 'Applied' }).waitFor()
    await page.getByText('effective then').first().waitFor()
    await page.getByRole('img', { name: /Effectiveness over \d+ marks/ }).waitFor()
    await page.context().close()
  })

  test('9.6 episodes are shown by day with status as glyph and word, and filtered by status', async () => {
    const page = await visit(shared.browser, shared.server)
    await go(page, '/memory/episodes')
    await page.getByLabel('Status').selectOption('consolidated')
    await page.waitForURL(/status=consolidated/)
    await page.locator('main [data-row]').getByText('Consolidated').first().waitFor()
    await page.locator('main [data-row] a').first().click()
    await page.getByRole('heading', { name: 'What it became' }).waitFor()
    await page.context().close()
  })

  test('9.7 and 9.11 the activity feed and the timeline tell what was learned, promoted, expired and inverted', async () => {
    const page = await visit(shared.browser, shared.server)
    await go(page, '/memory')
    await page.getByRole('heading', { name: 'Activity' }).waitFor()
    await page.getByText(/Fact learned|Rule promoted|Fact replaced|Fact expired|Rule became a warning/).first().waitFor()
    for (const [type, words] of [['fact_created', 'Fact learned'], ['rule_promoted', 'Rule promoted'], ['fact_expired', 'Fact expired'], ['rule_inverted', 'Rule became a warning']]) {
      await go(page, `/timeline?event=${type}`)
      await page.locator('main [data-row]').getByText(words).first().waitFor()
    }
    await page.context().close()
  })

  test('9.8 and 9.9 a butler’s page shows its facts as cards, its playbook and its episode stream', async () => {
    const page = await visit(shared.browser, shared.server)
    const { data } = await shared.server.api('/api/butlers/demo/memory/stats')
    await go(page, '/butlers/demo/memory')
    await page.getByText(`${(data.facts.active + data.facts.fading).toLocaleString('en')} facts`).waitFor()
    assert.ok((await page.locator('article h3').count()) > 3, 'cards by subject')
    await page.getByRole('heading', { name: 'Playbook' }).waitFor()
    await page.getByRole('heading', { name: 'Episode stream' }).waitFor()
    await go(page, '/butlers/general/memory')
    await page.getByText('No fact yet').waitFor()
    await page.context().close()
  })

  test('9.10 the cross-butler page has cards, browser, feed and health, and each chart says its point in words', async () => {
    const page = await visit(shared.browser, shared.server)
    await go(page, '/memory')
    for (const name of ['Knowledge', 'Activity', 'Health', 'Confidence', 'Backlog', 'Maturity', 'Rule effectiveness']) {
      await page.getByRole('heading', { name, exact: true }).waitFor()
    }
    await page.getByRole('img', { name: /Effective confidence of [\d,]+ memories/ }).waitFor()
    await page.context().close()
  })

  test('9.12 Cmd+K finds facts, rules, episodes and entities with badge, preview, scope and confidence or maturity', async () => {
    const page = await visit(shared.browser, shared.server)
    await go(page, '/timeline')
    await page.keyboard.press('Control+k')
    const [fact] = (await shared.server.api('/api/memory/facts?limit=1&sort=importance')).data
    await page.getByPlaceholder('Facts, rules, episodes, entities, pages').fill(fact.subject)
    const option = page.getByRole('option').filter({ hasText: 'Fact' }).first()
    await option.waitFor()
    assert.match(await option.innerText(), /confidence \d\.\d\d/)
    await option.click()
    await page.waitForURL(/\/memory\/facts\//)
    await page.keyboard.press('Control+k')
    await page.getByPlaceholder('Facts, rules, episodes, entities, pages').fill('settings')
    await page.getByRole('option').filter({ hasText: 'Settings' }).first().waitFor()
    await page.keyboard.press('Escape')
    await page.context().close()
  })

  test('the recall lab shows ranks, fusion, the four parts of the score, and the exact context block', async () => {
    const page = await visit(shared.browser, shared.server)
    await go(page, '/recall?butler=demo')
    await page.getByLabel('Question').fill('What should I cook tonight?')
    await page.getByRole('button', { name: 'Recall', exact: true }).click()
    await page.getByText('by meaning').first().waitFor()
    await page.getByText('fused').first().waitFor()
    const answer = await shared.server.api('/api/memory/recall?q=What%20should%20I%20cook%20tonight%3F&butler=demo')
    const block = await page.getByLabel('Context block').innerText()
    assert.equal(block.trim().split('\n')[0], answer.data.context.text.trim().split('\n')[0])
    await page.context().close()
  })
}
