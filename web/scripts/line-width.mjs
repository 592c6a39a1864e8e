// Fails on lines over 120 columns: the formatter leaves long strings and comments as they are.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const limit = 120
const generated = join('src', 'api', 'schema.d.ts')
const sources = ['src', 'e2e', 'scripts']
  .flatMap((folder) => readdirSync(folder, { recursive: true }).map((name) => join(folder, name)))
  .concat('index.html', 'vite.config.ts')
  .filter((path) => /\.(ts|tsx|mjs|css|html)$/.test(path) && path !== generated)
const long = sources.flatMap((path) =>
  readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line, index) => ([...line].length > limit ? [`${path}:${index + 1}`] : [])),
)
if (long.length > 0) {
  console.error(`Lines over ${limit} columns:\n  ${long.join('\n  ')}`)
  process.exit(1)
}
