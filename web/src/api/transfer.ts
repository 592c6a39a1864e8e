import type { SuppressedBy } from '../memory/suppressed'
import { address } from './client'
import { ApiError, errorOf } from './error'
import { sessionHeaders } from './session'

type Query = Record<string, string | boolean | undefined>

interface Tally {
  read: number
  created: number
  existing: number
  /** Left out because of what was forgotten before. Absent if there is nothing. */
  suppressed?: number
  suppressed_by?: SuppressedBy
  left_out: number
}

export interface ImportReport {
  dry_run: boolean
  committed: boolean
  kinds: Record<string, Tally>
  problems: { line: number | null; message: string }[]
}

const unreachable = () => new ApiError(0, 'unreachable', 'the server is not responding')

/** Downloads a file and lets the browser save it. A link cannot, because it does not carry the token. */
export async function download(path: string, query: Query, progress: (read: number, total: number) => void) {
  const response = await fetch(address(path, { query }), { headers: sessionHeaders() }).catch(() => {
    throw unreachable()
  })
  if (!response.ok || !response.body) throw await errorOf(response)
  const total = Number(response.headers.get('content-length') ?? 0)
  const parts: BlobPart[] = []
  let size = 0
  const reader = response.body.getReader()
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    parts.push(next.value)
    size += next.value.length
    progress(size, total)
  }
  const name = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? 'memory.jsonl'
  const url = URL.createObjectURL(new Blob(parts))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
  return { name, size }
}

/** Uploads a file. `fetch` cannot report the progress of an upload. */
export function upload(path: string, query: Query, file: File, progress: (done: number | null) => void) {
  return new Promise<ImportReport>((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', address(path, { query }))
    for (const [name, value] of Object.entries(sessionHeaders())) request.setRequestHeader(name, value)
    request.setRequestHeader('Content-Type', 'application/octet-stream')
    // Once everything is sent, the server works for a while and does not say how long.
    request.upload.onprogress = ({ loaded, total }) => progress(loaded < total ? loaded / total : null)
    request.onerror = () => reject(unreachable())
    request.onload = () => {
      const response = new Response(request.responseText, { status: request.status })
      if (response.ok) resolve((JSON.parse(request.responseText) as { data: ImportReport }).data)
      else void errorOf(response).then(reject)
    }
    request.send(file)
  })
}
