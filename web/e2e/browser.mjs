// Shared by the browser tests: a real server with the data of `butler demo`, and Chromium.
import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { chromium } from 'playwright-core'

const run = promisify(execFile)
/** The longest wait for anything, in ms. Generous, because test machines are busy and a wait ends as soon as it can. */
export const TIMEOUT = Number(process.env.BUTLER_E2E_TIMEOUT ?? 60_000)
/** Starting takes longer, because the server creates its database first. */
const START_TIMEOUT = 3 * TIMEOUT
export const butler = process.env.BUTLER_BIN
if (!butler) throw new Error('BUTLER_BIN is not set: run these tests with `cargo xtask web`')

/** A server with its own data directory, which `stop` removes. */
export class Server {
  /** `roster` maps butler names to their butler.toml and replaces the default roster. */
  static async start({ demo = true, listen = '127.0.0.1:0', roster = {}, startTimeout = START_TIMEOUT } = {}) {
    const server = new Server()
    server.startTimeout = startTimeout
    server.data = await mkdtemp(join(tmpdir(), 'butler-e2e-'))
    for (const [name, text] of Object.entries(roster)) {
      server.roster = join(server.data, 'roster')
      await mkdir(join(server.roster, name), { recursive: true })
      await writeFile(join(server.roster, name, 'butler.toml'), text)
    }
    await server.open(listen)
    if (demo) {
      await server.butler('demo')
      await server.hosts('demo')
    }
    return server
  }

  async open(listen) {
    const which = this.roster ? ['--roster', this.roster] : []
    this.child = spawn(butler, ['serve', '--data-dir', this.data, '--listen', listen, ...which], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.log = ''
    this.child.stderr.on('data', (chunk) => (this.log = (this.log + chunk).slice(-8000)))
    const lines = createInterface({ input: this.child.stdout })
    this.url = await new Promise((resolve, reject) => {
      const late = setTimeout(
        () => reject(new Error(`the server is not ready after ${this.startTimeout} ms:\n${this.log}`)),
        this.startTimeout,
      )
      late.unref()
      lines.on('line', (line) => line.startsWith('ready ') && resolve(line.slice(6).trim()))
      this.child.once('exit', (code) => reject(new Error(`the server stopped with ${code}:\n${this.log}`)))
    })
  }

  /** Waits until the running server hosts a new butler. */
  async hosts(name) {
    for (const end = Date.now() + START_TIMEOUT; Date.now() < end; ) {
      const { data } = await this.api('/api/butlers')
      if (data.some((butler) => butler.name === name && butler.health === 'ready')) return
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    throw new Error(`the server does not host ${name} after ${START_TIMEOUT} ms:\n${this.log}`)
  }

  async close() {
    if (this.child.exitCode !== null) return
    const gone = new Promise((resolve) => this.child.once('exit', resolve))
    this.child.kill('SIGTERM')
    await gone
  }

  async stop() {
    await this.close()
    await rm(this.data, { recursive: true, force: true })
  }

  butler(...words) {
    return run(butler, [...words, '--data-dir', this.data], { maxBuffer: 1 << 24 })
  }

  async api(path, options = {}) {
    const body = options.body === undefined ? undefined : JSON.stringify(options.body)
    const headers = { 'Content-Type': 'application/json', ...this.bearer(), ...options.headers }
    const response = await fetch(`${this.url}${path}`, { ...options, body, headers })
    const answer = await response.json()
    if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(answer)}`)
    return answer
  }

  /** The tests send `token` once tokens are on. */
  bearer() {
    return this.token ? { Authorization: `Bearer ${this.token}` } : {}
  }

  /** Calls an MCP tool of a butler. */
  async tool(name, args, of = 'demo') {
    const response = await fetch(`${this.url}/butlers/${of}/mcp`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...this.bearer() },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
    })
    const { result, error } = await response.json()
    if (error || result.isError) throw new Error(`${name}: ${JSON.stringify(error ?? result)}`)
    return result.structuredContent
  }
}

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** The headless shell has the same engine, without windows and extensions, and takes less processor time. */
const browsers = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']

export function launch() {
  const executablePath = process.env.CHROMIUM ?? browsers.find((path) => existsSync(path)) ?? browsers.at(-1)
  return chromium.launch({ executablePath, args: flags })
}

const visits = new Set()

/** Closes the visits that a failed test left open. */
export async function closeVisits() {
  await Promise.allSettled([...visits].map((context) => context.close()))
}

/** Opens a page in a new browser context. Console errors and warnings are collected in `problems`. */
export async function visit(browser, server, { width = 1280, height = 900, theme = 'light' } = {}) {
  const context = await browser.newContext({
    baseURL: server.url,
    viewport: { width, height },
    colorScheme: theme,
    permissions: ['clipboard-read', 'clipboard-write'],
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  page.setDefaultTimeout(TIMEOUT)
  visits.add(context)
  context.on('close', () => visits.delete(context))
  page.problems = []
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && page.problems.push(message.text()))
  page.on('pageerror', (error) => page.problems.push(`uncaught: ${error.message}`))
  page.on('dialog', async (dialog) => {
    page.problems.push(`a dialog opened: ${dialog.message()}`)
    await dialog.dismiss()
  })
  return page
}

/** Waits until the page has loaded its content. */
export async function settled(page) {
  await page.locator('h1').first().waitFor()
  await page.waitForFunction(() => !document.querySelector('[role="status"][aria-label^="Loading"]'))
}

export async function go(page, path) {
  await page.goto(path)
  await settled(page)
}

/** The indicator that the page receives changes as they happen. */
export function isLive(page) {
  return page.locator('header [role="status"]').filter({ hasText: 'Live' })
}
