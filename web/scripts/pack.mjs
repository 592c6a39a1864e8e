// Compresses the built files and writes the table that the server embeds.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const out = resolve(process.env.BUTLER_WEB_OUT ?? '../crates/server/dashboard')
const types = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
  woff2: 'font/woff2',
}
/** Already compressed by their format. */
const compressed = /\.woff2$/
/** A compressed copy of a smaller file saves less than its Content-Encoding header costs. */
const worthwhile = 512

const files = readdirSync(out, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => relative(out, join(entry.parentPath, entry.name)))
  .filter((path) => !/\.(br|gz|rs)$/.test(path))
  .sort()

const rows = files.map((path) => {
  const type = types[path.split('.').pop()]
  if (!type) throw new Error(`${path}: unknown content type`)
  const bytes = readFileSync(join(out, path))
  const etag = createHash('sha256').update(bytes).digest('hex').slice(0, 16)
  const packed = bytes.length >= worthwhile && !compressed.test(path)
  if (packed) {
    const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }
    writeFileSync(join(out, `${path}.br`), brotliCompressSync(bytes, quality))
    writeFileSync(join(out, `${path}.gz`), gzipSync(bytes, { level: 9 }))
  }
  const copy = (ending) => (packed ? `Some(include_bytes!("${path}.${ending}"))` : 'None')
  return `    File {
        path: "/${path}",
        content_type: "${type}",
        etag: "\\"${etag}\\"",
        immutable: ${path.startsWith('assets/')},
        plain: include_bytes!("${path}"),
        brotli: ${copy('br')},
        gzip: ${copy('gz')},
    },`
})
const head = '// Written by web/scripts/pack.mjs (`cargo xtask web --build`); an array of the built files.\n'
writeFileSync(join(out, 'files.rs'), `${head}&[\n${rows.join('\n')}\n]\n`)
console.log(`${files.length} files packed`)
