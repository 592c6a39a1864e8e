// Takes the pictures of docs/screenshots from the demo: BUTLER_BIN=… npm run screenshots.
import { join } from 'node:path'
import { go, launch, Server, visit } from './browser.mjs'

const folder = join(import.meta.dirname, '../../docs/screenshots')
const server = await Server.start()
const browser = await launch()
try {
  const [fact] = (await server.api('/api/memory/facts?q=migraine%20medication&sort=best&limit=1')).data
  const take = async (name, path, look = {}) => {
    const page = await visit(browser, server, { width: 1440, height: 900, ...look })
    await go(page, path)
    // fonts and the layout of the graph
    await page.waitForTimeout(2500)
    await page.screenshot({ path: join(folder, `${name}.png`) })
    await page.context().close()
  }
  await take('fact', `/memory/facts/${fact.id}`)
  await take('overview', '/memory')
  await take('inbox', '/inbox')
  await take('graph', '/graph?butler=demo')
  await take('recall', '/recall?q=what%20can%20Otto%20eat%20at%20a%20birthday%20party&butler=demo')
  await take('phone', '/facts', { width: 390, height: 844, theme: 'dark' })
} finally {
  await browser.close()
  await server.stop()
}
