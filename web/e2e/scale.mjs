// Measures the dashboard with many butlers and many facts: BUTLER_BIN=… npm run scale. It takes minutes and is not part
// of the tests. Needs psql.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { launch, Server, settled, visit } from './browser.mjs'

const run = promisify(execFile)
const BUTLERS = Number(process.env.BUTLERS ?? 200)
const FACTS = Number(process.env.FACTS ?? 100_000)
/** The private server creates one database for each butler. */
const START_TIMEOUT = 1_200_000
/** Entities of the graph, each with two relations: as many as the page draws. */
const NODES = 2000
const first = 'b000'

const ms = (value) => `${Math.round(value)} ms`
const rows = []
const note = (what, value) => {
  rows.push([what, value])
  console.log(`${what}: ${value}`)
}

/**
 * Fills the first butler by SQL, because storing so many facts one by one takes hours. The vectors repeat. Then it
 * vacuums the table, because otherwise counting reads every row, and waits until the vector index is trained, because
 * otherwise a search compares every vector. In normal operation, both happen within a minute.
 */
async function fill(server) {
  await server.tool('memory_store_fact', { subject: 'Ada', predicate: 'likes', content: 'difference engines' }, first)
  const { stdout } = await server.butler('db', 'url', '--roster', server.roster, '--butler', first)
  const words = "ARRAY['ferry','harbour','garden','pantry','invoice','recipe','bicycle','lecture','violin','lantern']"
  const sql = `
    CREATE TEMP TABLE vectors AS
      SELECT n, (SELECT array_agg(random() - 0.5 + 0 * n + 0 * d) FROM generate_series(1, 384) d)::vector AS v
      FROM generate_series(0, 999) n;
    INSERT INTO facts (subject, predicate, content, embedding, search_vector, embedding_version_id, last_confirmed_at,
                       created_at, tags)
      SELECT 'Person ' || (n % 5000), 'note ' || n,
             w || ' number ' || n || ' beside the ' || (${words})[1 + n / 10 % 10],
             (SELECT v FROM vectors WHERE vectors.n = s.n % 1000),
             to_tsvector('english', 'Person ' || (n % 5000) || ' ' || w || ' number ' || n),
             (SELECT id FROM embedding_versions LIMIT 1), now() - n * interval '1 minute',
             now() - n * interval '1 minute',
             jsonb_build_array(w)
      FROM (SELECT n, (${words})[1 + n % 10] AS w FROM generate_series(1, ${FACTS}) n) s`
  const graph = `
    INSERT INTO entities (id, canonical_name, entity_type)
      SELECT md5('node ' || n)::uuid, 'Node ' || n, 'person' FROM generate_series(1, ${NODES}) n;
    INSERT INTO facts (subject, predicate, content, search_vector, entity_id, object_entity_id, slot)
      SELECT 'Node ' || a, 'knows', 'Node ' || b, to_tsvector('english', 'Node ' || a || ' knows Node ' || b),
             md5('node ' || a)::uuid, md5('node ' || b)::uuid, md5('node ' || b)::uuid::text
      FROM generate_series(0, ${2 * NODES} - 1) n,
           LATERAL (SELECT 1 + n % ${NODES} AS a, 1 + (n * 7919 + n / ${NODES}) % ${NODES} AS b) e
      WHERE a <> b ON CONFLICT DO NOTHING`
  const psql = (...args) =>
    run('psql', [stdout.trim(), '-qAt', '-v', 'ON_ERROR_STOP=1', ...args], { maxBuffer: 1 << 24 })
  await psql('-c', sql, '-c', graph, '-c', 'VACUUM (ANALYZE) facts, entities, words')
  // a search notices that the index has been outgrown
  await server.api(`/api/memory/search?q=ferry&butler=${first}`)
  for (const end = Date.now() + START_TIMEOUT; Date.now() < end; ) {
    const trained = await psql('-c', "SELECT row_count FROM vector_indexes WHERE relation = 'facts'")
    if (Number(trained.stdout) > FACTS / 2) return
    await new Promise((resolve) => setTimeout(resolve, 1000))
  }
  throw new Error('the vector index was not trained')
}

/** Notes how long the server took for each request that the page sends until it is loaded. */
async function requestsOf(page, what, act) {
  const times = []
  const seen = async (request) => {
    const path = new URL(request.url()).pathname
    if (!path.startsWith('/api/') || path === '/api/events') return
    const { requestStart, responseStart } = request.timing()
    times.push([responseStart - requestStart, path])
  }
  page.on('requestfinished', seen)
  const started = performance.now()
  await act()
  const took = performance.now() - started
  page.off('requestfinished', seen)
  times.sort((a, b) => b[0] - a[0])
  const [slowest] = times
  note(`${what}: until it is shown`, ms(took))
  if (slowest) note(`${what}: slowest request of ${times.length}`, `${ms(slowest[0])} (${slowest[1]})`)
}

/** Acts in every frame for three seconds and notes how long the frames take. */
async function framesOf(page, what, act) {
  const frames = await page.evaluate(async (source) => {
    const act = new Function(`return (${source})()`)
    const intervals = []
    const end = performance.now() + 3000
    for (let last = performance.now(); last < end; ) {
      const now = await new Promise(requestAnimationFrame)
      intervals.push(now - last)
      last = now
      act()
    }
    return intervals.slice(1).toSorted((a, b) => a - b)
  }, act.toString())
  note(`${what}: frames in 3 s`, String(frames.length))
  note(
    `${what}: frame, p50 and p95`,
    `${ms(frames[frames.length >> 1])}, ${ms(frames[Math.floor(frames.length * 0.95)])}`,
  )
}

const roster = Object.fromEntries(Array.from({ length: BUTLERS }, (_, n) => [`b${String(n).padStart(3, '0')}`, '']))
let started = performance.now()
const server = await Server.start({ demo: false, roster, startTimeout: START_TIMEOUT })
const browser = await launch()
try {
  note(`start with ${BUTLERS} new butlers`, ms(performance.now() - started))
  started = performance.now()
  await fill(server)
  note(`fill ${first} with ${FACTS} facts by SQL`, ms(performance.now() - started))
  const page = await visit(browser, server, { width: 1440, height: 900 })
  const overview = async () => {
    await page.goto('/memory')
    await page.getByRole('navigation', { name: 'Totals' }).waitFor()
    await settled(page)
  }
  await requestsOf(page, 'first page, cold', overview)
  await requestsOf(page, 'first page, again', overview)
  await requestsOf(page, 'facts', async () => {
    await page.goto(`/facts?butler=${first}`)
    await page.getByRole('list', { name: 'Facts' }).waitFor()
  })
  await framesOf(page, 'scrolling', () => window.scrollBy(0, 400))
  note('scrolling: rows drawn', String(await page.locator('main [data-row]').count()))
  await requestsOf(page, 'search in facts', async () => {
    await page.getByRole('searchbox', { name: 'Search facts', exact: true }).fill('number 777 lantern')
    await page.getByRole('status').getByText(/match/).waitFor()
  })
  const canvas = page.getByRole('application')
  await requestsOf(page, `graph of ${NODES} entities`, async () => {
    await page.goto(`/graph?butler=${first}`)
    await canvas.waitFor()
    await settled(page)
  })
  await framesOf(page, 'moving the graph', () => {
    const graph = document.querySelector('[role="application"]')
    graph.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true }))
  })
  started = performance.now()
  await page.keyboard.press('Control+k')
  const box = page.getByPlaceholder('Memories, actions, butlers, pages')
  await box.waitFor()
  note('palette: opened', ms(performance.now() - started))
  await requestsOf(page, 'palette: a butler by name', async () => {
    await box.fill('b123')
    await page.getByRole('option').filter({ hasText: 'b123' }).first().waitFor()
  })
  await requestsOf(page, 'palette: a memory of any butler', async () => {
    await box.fill('difference engines')
    await page.getByRole('option').filter({ hasText: 'difference engines' }).first().waitFor()
    await page.waitForFunction(() => !document.body.innerText.includes('Searching…'))
  })
  await page.keyboard.press('Escape')
  await requestsOf(page, 'overview of all butlers together', async () => {
    await page.goto('/memory')
    await page.getByRole('combobox', { name: 'Butler', exact: true }).selectOption('')
    await page.waitForFunction(
      () => !document.querySelector('[role="status"][aria-label^="Loading"]') && performance.now() > 2000,
    )
    await page.waitForLoadState('networkidle').catch(() => {})
  })
  console.log(`\n| ${BUTLERS} butlers, ${FACTS} facts | |\n|---|---|`)
  for (const [what, value] of rows) console.log(`| ${what} | ${value} |`)
} finally {
  await browser.close()
  await server.stop()
}
