// Checks the size of the first load: index.html and every file it references, gzipped.
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'

const budget = 200_000
const out = resolve(process.env.BUTLER_WEB_OUT ?? '../crates/server/dashboard')
const html = readFileSync(join(out, 'index.html'), 'utf8')
const named = [...html.matchAll(/(?:src|href)="\/([^"]+)"/g)].map((match) => match[1])
const sizes = ['index.html', ...named].map((path) => gzipSync(readFileSync(join(out, path)), { level: 9 }).length)
const total = sizes.reduce((sum, size) => sum + size, 0)
console.log(`first load: ${(total / 1000).toFixed(1)} kB gzip of ${budget / 1000} kB`)
if (total > budget) {
  console.error('The first load exceeds its budget: load a large page or dependency lazily.')
  process.exit(1)
}
