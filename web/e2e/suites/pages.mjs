import assert from 'node:assert/strict'
import { go, settled, visit } from '../browser.mjs'
import { figure, grouped, near, shownIds, showsExactly } from '../page-content.mjs'
import { test } from '../retry.mjs'

const idsOf = ({ data }) => data.map((row) => row.id)

/** A subject and a permanence that narrow the list both alone and together, so that an ignored filter is noticed. */
async function narrowing(server) {
  const { data } = await server.api('/api/memory/facts?limit=100')
  for (const { subject, permanence } of data) {
    const total = async (query) => (await server.api(`/api/memory/facts?limit=1&${query}`)).meta.total
    const words = `q=${encodeURIComponent(subject)}`
    const [both, by_words, by_permanence] = [
      await total(`${words}&permanence=${permanence}`),
      await total(words),
      await total(`permanence=${permanence}`),
    ]
    if (both < by_words && both < by_permanence) return { subject, permanence }
  }
  throw new Error('the demo has no such subject')
}

export function pages(shared) {
  test('9.1 the overview shows the counts of facts, rules, episodes and fading memories', async () => {
    const page = await visit(shared.browser, shared.server)
    const { data } = await shared.server.api('/api/memory/stats')
    assert.ok(data.facts.total + data.rules.total + data.episodes.total >= 2000, 'the demo is large')
    await go(page, '/memory/health')
    const { facts, rules, episodes } = data
    const {
      permanent: Permanent,
      stable: Stable,
      standard: Standard,
      volatile: Volatile,
      ephemeral: Ephemeral,
    } = facts.by_permanence
    assert.deepEqual(await figure(page, 'Facts by permanence'), {
      value: facts.active + facts.fading,
      parts: { Permanent, Stable, Standard, Volatile, Ephemeral },
    })
    const { candidate: Candidate, established: Established, proven: Proven, anti_pattern: Warning } = rules.by_maturity
    assert.deepEqual(await figure(page, 'Rules by maturity'), {
      value: rules.total - rules.forgotten,
      parts: { Candidate, Established, Proven, Warning },
    })
    assert.deepEqual(await figure(page, 'Episodes'), {
      value: episodes.total,
      parts: {
        Pending: episodes.unconsolidated,
        Consolidated: episodes.consolidated,
        'Failed, will retry': episodes.failed,
        'Dead letters': episodes.dead_letter,
      },
    })
    assert.deepEqual(await figure(page, 'Fading'), {
      value: data.fading,
      parts: { Facts: facts.fading, Rules: rules.fading, 'Expiring within a week': facts.expiring_7d },
    })
    await page.context().close()
  })

  test('9.2 facts are searched, filtered and sorted, and the state is in the URL', async () => {
    const { server, browser } = shared
    const { subject, permanence } = await narrowing(server)
    const page = await visit(browser, server)
    await go(page, '/facts')
    const ask = (query) => server.api(`/api/memory/facts?limit=100&${query}`)
    /** Waits until the list begins with what the server answers, and its count says how many there are. */
    const shows = async (query, word = 'fact') => {
      const { data, meta } = await ask(query)
      await page.waitForFunction(
        (wanted) => {
          const links = [...document.querySelectorAll('main [aria-label="Facts"] a[href^="/memory/facts/"]')]
          const ids = links.map((link) => link.getAttribute('href').split('/').pop())
          return JSON.stringify(ids.slice(0, 12)) === wanted
        },
        JSON.stringify(data.slice(0, 12).map((row) => row.id)),
      )
      await page
        .getByRole('status')
        .getByText(new RegExp(`${grouped(meta.total)} (best )?${word}`))
        .waitFor()
      return data
    }
    await shows('')
    const box = page.getByRole('searchbox', { name: 'Search facts', exact: true })
    await box.fill(subject)
    const words = `q=${encodeURIComponent(subject)}`
    await shows(`${words}&sort=best`, 'match')
    await page.getByRole('combobox', { name: 'Permanence', exact: true }).selectOption(permanence)
    await shows(`${words}&sort=best&permanence=${permanence}`, 'match')
    await page.reload()
    await settled(page)
    assert.equal(await box.inputValue(), subject, 'the URL restores the state')
    await shows(`${words}&sort=best&permanence=${permanence}`, 'match')
    await page.getByRole('combobox', { name: 'Order', exact: true }).selectOption('newest')
    await shows(`${words}&permanence=${permanence}`)
    await page.getByRole('button', { name: 'Clear filters', exact: true }).click()
    await box.fill('')
    await page.getByRole('combobox', { name: 'State', exact: true }).selectOption('fading')
    await page.getByRole('combobox', { name: 'Order', exact: true }).selectOption('least_confident')
    await shows('validity=fading&sort=least_confident')
    const figures = page.getByRole('list', { name: 'Facts' }).locator('.figure')
    // a row shows its text first
    await figures.nth(1).waitFor()
    const shown = (await figures.allInnerTexts()).map((text) => Number(text.replace(/[^\d.]/g, '')))
    assert.ok(shown.length > 1)
    assert.deepEqual(
      shown,
      shown.toSorted((a, b) => a - b),
      'the least confident come first',
    )
    await page.getByRole('combobox', { name: 'State', exact: true }).selectOption('')
    await page.getByRole('combobox', { name: 'Minimum confidence', exact: true }).selectOption('0.5')
    await shows('min_confidence=0.5&sort=least_confident')
    await page.context().close()
  })

  test('9.2 a fact shows its provenance, its decay and its readers', async () => {
    const { server, browser } = shared
    const learned = (await server.api('/api/memory/facts?limit=100')).data.find(
      (row) => row.source_episode_id && row.decay_rate > 0,
    )
    const { data } = await server.api(`/api/memory/facts/${learned.id}`)
    const page = await visit(browser, server)
    await go(page, `/memory/facts/${learned.id}`)
    const from = page.getByRole('region', { name: 'Provenance' })
    await from
      .getByRole('group', {
        name: `Provenance: ${data.links.filter((link) => link.side === 'outgoing').length} sources`,
      })
      .waitFor()
    await from.getByRole('button', { name: 'List', exact: true }).click()
    const living = data.links.filter((link) => link.label)
    assert.deepEqual(
      await shownIds(page, from),
      living.map((link) => link.id),
    )
    assert.equal(await from.getByText('learned from').count(), data.provenance.length)
    const sure = page.getByRole('region', { name: 'Confidence and decay' })
    const text = await sure.innerText()
    const { confidence, rate, effective_confidence: effective } = data.decay
    assert.ok(text.includes(`${confidence.toFixed(2)} × e`) && text.includes(`−${rate} × `), text)
    assert.ok(near(text, '=', effective), `${effective} in ${text}`)
    const day = (at) => new Date(at).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })
    for (const at of [data.decay.fades_on, data.decay.expires_on, data.decay.if_confirmed_today.fades_on])
      assert.ok(text.includes(day(at)), `${day(at)} in ${text}`)
    const last = data.decay.curve.at(-1)
    await sure
      .getByRole('img', {
        name: `to ${last.effective_confidence.toFixed(2)}, or ${last.if_confirmed.toFixed(2)} if confirmed today`,
      })
      .waitFor()
    const readers = await page.getByRole('region', { name: 'Reads' }).innerText()
    assert.ok(
      readers.includes(
        data.reference_count === 0 ? 'No agent has read it yet' : `${grouped(data.reference_count)} time`,
      ),
      readers,
    )
    assert.ok(readers.includes(data.scope === 'global' ? 'Every agent of demo' : data.scope), readers)
    await page.context().close()
  })

  test('9.4 rules are filtered by maturity and show their marks', async () => {
    const { server, browser } = shared
    const page = await visit(browser, server)
    await go(page, '/rules')
    await page.getByRole('combobox', { name: 'Maturity', exact: true }).selectOption('proven')
    const proven = (await server.api('/api/memory/rules?maturity=proven&sort=maturity&limit=100')).data
    assert.ok(proven.length > 0 && proven.every((rule) => rule.maturity === 'proven'))
    await page
      .getByRole('status')
      .getByText(`${grouped(proven.length)} rule`)
      .waitFor()
    const listed = await shownIds(page, page.getByRole('list', { name: 'Rules' }))
    assert.deepEqual(listed, proven.map((rule) => rule.id).slice(0, listed.length))
    assert.equal(await page.getByRole('list', { name: 'Rules' }).getByText('Proven').count(), listed.length)
    await page.getByRole('list', { name: 'Rules' }).getByRole('link').first().click()
    await page.waitForURL(`**/memory/rules/${proven[0].id}`)
    const { data } = await server.api(`/api/memory/rules/${proven[0].id}`)
    const applied = page.getByRole('region', { name: 'Marks', exact: true })
    await applied.getByText('effective at the time').first().waitFor()
    const all = applied.getByRole('button', { name: `Show all ${data.applications.length}`, exact: true })
    if (data.applications.length > 8) await all.click()
    assert.equal(await applied.getByText('effective at the time').count(), data.applications.length)
    assert.equal(
      await applied.getByText('Harmful', { exact: true }).count(),
      data.applications.filter((mark) => mark.outcome === 'harmful').length,
    )
    await page.getByRole('img', { name: `Effectiveness over ${data.effectiveness_over_time.length} marks` }).waitFor()
    await page.context().close()
  })

  test('9.6 episodes show their status and are filtered by butler, day and status', async () => {
    const { server, browser } = shared
    const page = await visit(browser, server)
    await go(page, '/memory/episodes')
    const statuses = { pending: '○', consolidated: '●', failed: '△', dead_letter: '✕' }
    const labels = { pending: 'Pending', consolidated: 'Consolidated', failed: 'Failed', dead_letter: 'Dead letter' }
    for (const [status, glyph] of Object.entries(statuses)) {
      await page.getByRole('combobox', { name: 'Status', exact: true }).selectOption(status)
      const { data } = await server.api(`/api/memory/episodes?status=${status}&limit=40`)
      await showsExactly(
        page,
        '',
        data.map((row) => row.id),
      )
      const badges = (await page.locator('main [data-row]').allInnerTexts()).filter((text) =>
        text.replace(/\s/g, '').includes(`${glyph}${labels[status].replace(' ', '')}`),
      )
      assert.equal(badges.length, data.length, `each shows ${glyph} ${labels[status]}`)
    }
    const [newest] = (await server.api('/api/memory/episodes?limit=1')).data
    const day = newest.created_at.slice(0, 10)
    await page.getByRole('combobox', { name: 'Status', exact: true }).selectOption('')
    await page.getByLabel('From', { exact: true }).fill(day)
    await page.getByLabel('To', { exact: true }).fill(day)
    const ofDay = await server.api(`/api/memory/episodes?from=${day}&to=${day}&limit=40`)
    assert.ok(
      ofDay.meta.total < (await server.api('/api/memory/episodes?limit=1')).meta.total,
      'one day is not all episodes',
    )
    await showsExactly(page, '', idsOf(ofDay))
    await page.getByRole('combobox', { name: 'Butler', exact: true }).selectOption('general')
    await page.getByText('No matching episodes').waitFor()
    const learned = (await server.api('/api/memory/episodes?status=consolidated&limit=100')).data
    const detail = await Promise.all(learned.map(({ id }) => server.api(`/api/memory/episodes/${id}`)))
    const { data } = detail.find((answer) => answer.data.became.length > 0)
    await go(page, `/memory/episodes/${data.id}`)
    const results = page.getByRole('region', { name: 'Learned from it' })
    await results.waitFor()
    for (const link of data.became)
      assert.ok(await results.locator(`a[href$="${link.id}"]`).count(), `${link.label} is linked`)
    await page.context().close()
  })

  test('9.7 the activity feed shows the latest changes, newest first', async () => {
    const { server, browser } = shared
    const page = await visit(browser, server)
    await go(page, '/memory/health')
    const feed = page.getByRole('region', { name: 'Activity' })
    await feed.locator('[data-row]').first().waitFor()
    const { data } = await server.api('/api/memory/activity?limit=16')
    const named = data.filter((event) => event.label)
    assert.deepEqual(
      await shownIds(page, feed),
      named.map((event) => event.memory_id),
    )
    await page.context().close()
  })

  test('9.11 the timeline shows all events or only those of a selected type', async () => {
    const { server, browser } = shared
    const page = await visit(browser, server)
    for (const [type, label] of [
      ['fact_created', 'Fact learned'],
      ['rule_promoted', 'Rule promoted'],
      ['fact_expired', 'Fact expired'],
      ['rule_inverted', 'Rule became a warning'],
    ]) {
      await go(page, `/timeline?event=${type}`)
      const { data } = await server.api(`/api/timeline?type=${type}&limit=50`)
      assert.ok(data.length > 0, type)
      const rows = await page.locator('main [data-row]').allInnerTexts()
      assert.equal(rows.length, data.length, type)
      for (const row of rows) assert.ok(row.includes(label), `${label} in ${row}`)
    }
    await go(page, '/timeline')
    await page.getByRole('combobox', { name: 'Kind', exact: true }).selectOption('entity')
    const ofEntities = (await server.api('/api/timeline?kind=entity&limit=50')).data
    await showsExactly(
      page,
      '',
      ofEntities.filter((event) => event.label).map((event) => event.memory_id),
    )
    await page.context().close()
  })

  test('9.8 and 9.9 a butler’s page shows only its own facts, playbook and episodes', async () => {
    const { server, browser } = shared
    const page = await visit(browser, server)
    const [stats, facts, rules, episodes] = await Promise.all(
      ['stats', 'facts?sort=subject&limit=40', 'rules?sort=maturity&limit=40', 'episodes?limit=10'].map((path) =>
        server.api(`/api/butlers/demo/memory/${path}`),
      ),
    )
    await go(page, '/butlers/demo/memory')
    const counts = [stats.data.facts.known, stats.data.rules.known, stats.data.episodes.total].map(grouped)
    await page.getByText(`${counts[0]} facts, ${counts[1]} rules and ${counts[2]} episodes`).waitFor()
    const [cards, playbook, stream] = ['Facts', 'Playbook', 'Episode stream'].map((name) =>
      page.getByRole('region', { name, exact: true }),
    )
    assert.deepEqual(new Set(await shownIds(page, cards)), new Set(idsOf(facts)))
    assert.deepEqual(
      await cards.locator('article h3').allInnerTexts(),
      [...new Set(facts.data.map((fact) => fact.subject))],
      'one card per subject',
    )
    const [fact] = facts.data
    const row = cards.locator('li').filter({ has: page.locator(`a[href$="${fact.id}"]`) })
    assert.ok(
      (await row.innerText()).includes(fact.effective_confidence.toFixed(2)) &&
        (await row.innerText()).includes(fact.permanence),
      await row.innerText(),
    )
    for (const [maturity, word] of [
      ['proven', 'Proven'],
      ['established', 'Established'],
      ['candidate', 'Candidate'],
      ['anti_pattern', 'Warning'],
    ]) {
      const level = rules.data.filter((rule) => rule.maturity === maturity)
      if (level.length > 0)
        assert.deepEqual(
          await shownIds(page, playbook.getByRole('region', { name: word })),
          level.map((rule) => rule.id),
        )
    }
    assert.deepEqual(await shownIds(page, stream), idsOf(episodes))
    await page.getByRole('searchbox', { name: 'Search this butler’s facts', exact: true }).fill(fact.subject)
    const found = await server.api(
      `/api/butlers/demo/memory/facts?sort=subject&limit=40&q=${encodeURIComponent(fact.subject)}`,
    )
    assert.ok(found.meta.total < facts.meta.total)
    await page.waitForFunction((count) => document.querySelectorAll('article li').length === count, found.data.length)
    await go(page, '/butlers/general/memory')
    await page.getByText('No facts yet').waitFor()
    await page.context().close()
  })

  test('9.10 the cross-butler page has figures, search, activity and described charts', async () => {
    const { server, browser } = shared
    const page = await visit(browser, server)
    const { data } = await server.api('/api/memory/stats')
    await go(page, '/memory/health')
    for (const name of ['Facts by permanence', 'Activity', 'Health'])
      await page.getByRole('heading', { name, exact: true }).waitFor()
    const sum = (numbers) => numbers.reduce((total, number) => total + number, 0)
    const { facts, rules, retrieval_threshold: threshold } = data.confidence
    const below = sum([...facts, ...rules].map((count, bin) => ((bin % 20) + 1 <= threshold * 20 + 1e-9 ? count : 0)))
    await page
      .getByRole('img', {
        name: [
          `Effective confidence of ${grouped(sum(facts) + sum(rules))} memories;`,
          `${grouped(below)} below the retrieval threshold ${threshold}`,
        ].join(' '),
        exact: true,
      })
      .waitFor()
    const waiting = grouped(data.backlog.at(-1).waiting)
    const backlog = `Episodes waiting for consolidation over ${data.backlog.length} days; ${waiting} now`
    await page.getByRole('img', { name: backlog, exact: true }).waitFor()
    const panel = (name) => page.locator('.card').filter({ has: page.getByRole('heading', { name, exact: true }) })
    const numbers = async (name) =>
      (await panel(name).locator('dd .figure').allInnerTexts()).map((text) => Number(text.replaceAll(',', '')))
    const { candidate, established, proven, anti_pattern } = data.rules.by_maturity
    assert.deepEqual(await numbers('Maturity'), [candidate, established, proven, anti_pattern])
    const { bins, never_applied, mean } = data.effectiveness
    const fifths = [4, 3, 2, 1, 0].map((fifth) => bins[fifth * 2] + bins[fifth * 2 + 1])
    assert.deepEqual(await numbers('Rule effectiveness'), [...fifths, never_applied])
    assert.ok((await panel('Rule effectiveness').innerText()).includes(`${Math.round(mean * 100)}% on average`))
    await page.context().close()
  })

  test('9.12 Cmd+K finds memories, entities and pages, each with its details', async () => {
    const { server, browser } = shared
    const one = async (path) => (await server.api(path)).data[0]
    const fact = await one('/api/memory/facts?limit=1&sort=importance')
    const rule = await one('/api/memory/rules?limit=1&maturity=proven')
    // expired episodes are not found, and one of two with the same beginning might be missed
    const episodes = (await server.api('/api/memory/episodes?limit=100')).data.filter((row) => !row.expired)
    const alike = (row) => episodes.filter((other) => other.content.slice(0, 40) === row.content.slice(0, 40))
    const episode = episodes.find((row) => alike(row).length === 1) ?? episodes[0]
    const entity = await one('/api/memory/entities?limit=1&sort=facts')
    const searches = [
      [
        'Fact',
        `${fact.subject} ${fact.content}`,
        `/memory/facts/${fact.id}`,
        [fact.subject, fact.content.slice(0, 40), fact.scope, `confidence ${fact.effective_confidence.toFixed(2)}`],
      ],
      ['Rule', rule.content, `/memory/rules/${rule.id}`, [rule.content.slice(0, 40), rule.scope, 'Proven']],
      ['Episode', episode.content, `/memory/episodes/${episode.id}`, [episode.content.slice(0, 40), episode.butler]],
      ['Entity', entity.canonical_name, `/entities/${entity.id}`, [entity.canonical_name, entity.entity_type]],
    ]
    const page = await visit(browser, server)
    await go(page, '/timeline')
    const box = page.getByPlaceholder('Memories, actions, butlers, pages')
    for (const [badge, words, address, parts] of searches) {
      await page.keyboard.press('Control+k')
      await box.fill(words.split(/\s+/).slice(0, 12).join(' '))
      const option = page
        .getByRole('option')
        .filter({ hasText: new RegExp(`^${badge}`) })
        .filter({ hasText: parts[0] })
        .first()
      await option.waitFor()
      const text = await option.innerText()
      for (const part of parts) assert.ok(text.includes(part), `${badge}: ${part} in ${text}`)
      // an exact name ranks before a mention
      if (badge === 'Entity') assert.ok((await page.getByRole('option').first().innerText()).startsWith('Entity'), text)
      await option.click()
      await page.waitForURL(`**${address}`)
    }
    await page.keyboard.press('Control+k')
    await box.fill('settings')
    await page.getByRole('option').filter({ hasText: 'Settings' }).first().click()
    await page.waitForURL('**/settings')
    await page.context().close()
  })

  test('the recall lab shows ranks, fused scores, the parts of each score and the context block', async () => {
    const { server, browser } = shared
    const page = await visit(browser, server)
    await go(page, '/recall?butler=demo')
    await page.getByRole('searchbox', { name: 'Question', exact: true }).fill('What should I cook tonight?')
    await page.getByRole('button', { name: 'Recall', exact: true }).click()
    await page.getByText('by meaning').first().waitFor()
    const { data } = await server.api('/api/memory/recall?q=What%20should%20I%20cook%20tonight%3F&butler=demo')
    const rows = page.locator('main [data-row]')
    assert.equal(await rows.count(), data.results.length)
    for (const [index, hit] of data.results.entries()) {
      const text = (await rows.nth(index).innerText()).replace(/\s+/g, ' ')
      for (const [part, value] of Object.entries(hit.explain.weighed))
        assert.ok(near(text, part, value), `${part} ${value} in ${text}`)
      assert.ok(near(text, 'fused', hit.rrf_score), text)
      assert.ok(Math.abs(Number(/(\d\.\d{3})$/.exec(text.trim())[1]) - hit.score) < 0.002, `${hit.score} in ${text}`)
      const rank = (name, found, value) => `${name} ${found ? `#${value}` : 'not found'}`
      assert.ok(text.includes(rank('by meaning', hit.explain.in_semantic, hit.semantic_rank)), text)
      assert.ok(text.includes(rank('by keywords', hit.explain.in_keyword, hit.keyword_rank)), text)
    }
    for (const [part, weight] of Object.entries(data.trace.weights))
      await page.getByText(new RegExp(`^${part} × ${weight}$`, 'i')).waitFor()
    const block = await page.getByLabel('Context block', { exact: true }).textContent()
    assert.equal(block, data.context.text)
    await page.getByText(`${grouped(data.context.tokens)} of ${grouped(data.context.token_budget)} tokens`).waitFor()
    await page.context().close()
  })
}
