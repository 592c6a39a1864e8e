// Fails when the committed build differs from a fresh one. Compressed copies are compared by content, because two Node
// versions may compress to different bytes.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'

const [fresh, committed] = process.argv.slice(2).map((path) => resolve(path))
const list = (root) =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort()
const content = (root, path) => {
  const bytes = readFileSync(join(root, path))
  if (path.endsWith('.br')) return brotliDecompressSync(bytes)
  return path.endsWith('.gz') ? gunzipSync(bytes) : bytes
}
const [have, want] = [new Set(list(committed)), new Set(list(fresh))]
const problems = [
  ...[...want].filter((path) => !have.has(path)).map((path) => `missing: ${path}`),
  ...[...have].filter((path) => !want.has(path)).map((path) => `no longer built: ${path}`),
  ...[...want]
    .filter((path) => have.has(path) && !content(fresh, path).equals(content(committed, path)))
    .map((path) => `differs: ${path}`),
]
if (problems.length > 0) {
  console.error(`The committed dashboard differs from a fresh build of web/:\n  ${problems.join('\n  ')}`)
  console.error('Run `cargo xtask web --build` and commit crates/server/dashboard.')
  process.exit(1)
}
console.log(`the committed dashboard is up to date (${want.size} files)`)
