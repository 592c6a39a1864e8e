// Measures how long interactions take on the demo: BUTLER_BIN=… npm run interactions. The browser reports the time
// from a key or a click to the next frame.
import { go, launch, Server, visit } from './browser.mjs'

const server = await Server.start()
const browser = await launch()
try {
  const page = await visit(browser, server, { width: 1440, height: 900 })
  await page.addInitScript(() => {
    globalThis.slowest = []
    new PerformanceObserver((list) => {
      for (const { name, duration, interactionId } of list.getEntries())
        if (interactionId) globalThis.slowest.push([duration, name])
    }).observe({ type: 'event', durationThreshold: 16, buffered: true })
  })
  const all = []
  const measure = async (what, act) => {
    await page.evaluate(() => (globalThis.slowest.length = 0))
    await act()
    await page.waitForTimeout(300)
    const [[duration, name] = [0, 'below 16 ms']] = await page.evaluate(() =>
      globalThis.slowest.toSorted((a, b) => b[0] - a[0]),
    )
    all.push(duration)
    console.log(`| ${what} | ${duration} ms (${name}) |`)
  }
  await go(page, '/facts')
  await page.getByRole('list', { name: 'Facts' }).waitFor()
  await measure('facts: type a search', async () => {
    await page.getByRole('searchbox', { name: 'Search facts', exact: true }).click()
    await page.keyboard.type('allergic to nuts', { delay: 30 })
  })
  await measure('facts: select all', () => page.getByRole('checkbox', { name: /^Select (all|the first)/ }).click())
  await measure('facts: move with j', async () => {
    await page.evaluate(() => document.activeElement?.blur())
    for (let step = 0; step < 10; step++) await page.keyboard.press('j')
  })
  await measure('facts: open the editor', () => page.keyboard.press('e'))
  await page.keyboard.press('Escape')
  await measure('palette: open and type', async () => {
    await page.keyboard.press('Control+k')
    await page.keyboard.type('otto birthday', { delay: 30 })
  })
  await page.goto('/facts')
  for (const name of [
    'Overview',
    'Rules',
    'Inbox',
    'Episodes',
    'Entities',
    'Graph',
    'Timeline',
    'Recall lab',
    'Settings',
  ])
    await measure(`open ${name}`, () =>
      page
        .getByRole('navigation', { name: 'Pages' })
        .getByRole('link', { name: new RegExp(`^${name}`) })
        .click(),
    )
  console.log(`slowest: ${Math.max(...all)} ms`)
} finally {
  await browser.close()
  await server.stop()
}
