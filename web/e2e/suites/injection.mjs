import assert from 'node:assert/strict'
import { go, visit } from '../browser.mjs'
import { test } from '../retry.mjs'

const once = Date.now()
const attack = (field) =>
  [
    `${once}<img src=x onerror="window.pwned='${field}'">`,
    `<script>window.pwned='${field}'</script>"'>`,
    `<svg onload=window.pwned='${field}'>{{7*7}}javascript:alert(1)`,
  ].join('')

/** Stored text is rendered as text in every field, never as HTML. */
export function injection(shared) {
  test('memory text is never HTML: injected markup in every field stays text', async () => {
    const { server, browser } = shared
    const entity = await server.tool('entity_create', {
      canonical_name: attack('name'),
      entity_type: 'other',
      aliases: [attack('alias')],
    })
    const fact = await server.tool('memory_store_fact', {
      subject: attack('subject'),
      predicate: attack('predicate').slice(0, 90),
      content: attack('content'),
      scope: 'global',
      tags: [attack('tag').slice(0, 60)],
      entity_id: entity.entity_id,
    })
    const rule = await server.tool('memory_store_rule', { content: attack('rule'), tags: ['<b>x</b>'] })
    await server.tool('memory_mark_harmful', { rule_id: rule.id, reason: attack('reason') })
    const episode = await server.tool('memory_store_episode', { content: attack('episode'), butler: 'demo' })
    const page = await visit(browser, server)
    const paths = [
      `/memory/facts/${fact.id}`,
      `/memory/rules/${rule.id}`,
      `/memory/episodes/${episode.id}`,
      `/entities/${entity.entity_id}`,
      '/memory',
      '/facts?sort=newest',
      '/rules?sort=newest',
      '/memory/changes',
      '/entities',
      '/timeline',
      '/butlers/demo/memory?q=onerror',
      `/recall?butler=demo&q=${encodeURIComponent(attack('query'))}`,
      `/facts?q=${encodeURIComponent(attack('search'))}`,
    ]
    for (const path of paths) {
      await go(page, path)
      // without the text on the page, the test would prove nothing
      await page.waitForFunction(
        (text) =>
          document.querySelector('main').innerText.includes(text) ||
          [...document.querySelectorAll('main input')].some((input) => input.value.includes(text)),
        `${once}<img src=x`,
      )
      assert.equal(await page.evaluate(() => window.pwned), undefined, `${path} executed a script`)
      assert.equal(await page.locator('main img[src="x"], main script').count(), 0, `${path} rendered the markup`)
    }
    await go(page, `/memory/facts/${fact.id}`)
    assert.equal(await page.locator('h1').innerText(), attack('content'))
    await page.keyboard.press('Control+k')
    await page.getByPlaceholder('Memories, actions, butlers, pages').fill('onerror')
    await page
      .getByRole('option')
      .filter({ hasText: `${once}<img src=x` })
      .first()
      .waitFor()
    assert.equal(await page.evaluate(() => window.pwned), undefined)
    assert.equal(await page.locator('[role="dialog"] img[src="x"], [role="dialog"] script').count(), 0)
    assert.deepEqual(page.problems, [])
    await page.context().close()
  })

  test('the content security policy forbids inline scripts, inline styles and framing', async () => {
    const response = await fetch(shared.server.url)
    const policy = response.headers.get('content-security-policy')
    assert.ok(
      policy.includes("script-src 'self'") &&
        policy.includes("style-src 'self'") &&
        policy.includes("frame-ancestors 'none'"),
    )
    assert.ok(!policy.includes('unsafe'))
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
    assert.equal(response.headers.get('cache-control'), 'no-cache')
  })
}
