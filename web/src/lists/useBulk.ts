import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { request } from '../api/client'
import { counted } from '../lib/number'
import type { Kind } from '../memory/useActions'
import { toast } from '../ui/toast'
import { doEach, failureText, type Undo } from './bulk'
import type { Selection } from './useSelection'

export interface BulkRow {
  id: string
  home?: string
  scope: string
  tags: string[]
}

interface Change {
  tags?: string[]
  scope?: string
}

/** Changes a memory. A fact gets a new version with another id. */
async function edit(kind: Kind, row: BulkRow, body: Change): Promise<string> {
  const at = { path: { id: row.id }, query: { butler: row.home } }
  if (kind === 'fact') return (await request('put', '/api/memory/facts/{id}', { ...at, body })).data.id
  await request('put', '/api/memory/rules/{id}', { ...at, body })
  return row.id
}

async function restore(kind: Kind, row: BulkRow) {
  const at = { path: { id: row.id }, query: { butler: row.home } }
  if (kind === 'fact') await request('post', '/api/memory/facts/{id}/restore', at)
  else await request('post', '/api/memory/rules/{id}/restore', at)
}

async function confirm(kind: Kind, row: BulkRow): Promise<Undo> {
  const at = { path: { id: row.id }, query: { butler: row.home } }
  const confirmed =
    kind === 'fact'
      ? await request('post', '/api/memory/facts/{id}/confirm', at)
      : await request('post', '/api/memory/rules/{id}/confirm', at)
  const made = { ...at, query: { ...at.query, at: confirmed.data.last_confirmed_at } }
  return async () => {
    if (kind === 'fact') await request('post', '/api/memory/facts/{id}/undo', made)
    else await request('post', '/api/memory/rules/{id}/undo', made)
  }
}

async function forget(kind: Kind, row: BulkRow): Promise<Undo> {
  const at = { path: { id: row.id }, query: { butler: row.home } }
  if (kind === 'fact') await request('delete', '/api/memory/facts/{id}', at)
  else await request('delete', '/api/memory/rules/{id}', at)
  return () => restore(kind, row)
}

async function setTags(kind: Kind, row: BulkRow, tags: string[]): Promise<Undo> {
  await edit(kind, row, { tags })
  return () => restore(kind, row)
}

/** A fact that moved has left the key of its old version, so it is moved back rather than restored. */
async function move(kind: Kind, row: BulkRow, scope: string): Promise<Undo> {
  const id = await edit(kind, row, { scope })
  return () => edit(kind, { ...row, id }, { scope: row.scope })
}

/** The actions on the selected rows. Each reports what was done and what was not, and can be undone. */
export function useBulk<T extends BulkRow>(kind: Kind, selection: Selection<T>) {
  const client = useQueryClient()
  const [busy, setBusy] = useState(false)

  async function run(verb: string, change: (row: BulkRow) => Promise<Undo | undefined>) {
    setBusy(true)
    const { done, failed } = await doEach(selection.rows, change)
    if (failed.length > 0) toast(failureText(failed, kind, verb), { tone: 'failed' })
    // before success is reported, so that nobody acts on an outdated row, such as a fact's earlier version
    await client.invalidateQueries()
    selection.set(failed.map(({ row }) => row))
    setBusy(false)
    const undos = done.filter((undo) => undo !== undefined)
    const action = { label: 'Undo', run: () => void takeBack(undos) }
    if (done.length > 0) toast(`${counted(done.length, kind)} ${verb}.`, undos.length > 0 ? { action } : {})
  }

  async function takeBack(undos: Undo[]) {
    setBusy(true)
    const { done, failed } = await doEach(undos, (undo) => undo())
    if (failed.length > 0) toast(failureText(failed, kind, 'changed back'), { tone: 'failed' })
    await client.invalidateQueries()
    // a selected row may be a version that the undo has replaced
    selection.set([])
    setBusy(false)
    if (done.length > 0) toast(`Undone for ${counted(done.length, kind)}.`)
  }

  return {
    busy,
    confirm: () => run('confirmed', (row) => confirm(kind, row)),
    forget: () => run('forgotten', (row) => forget(kind, row)),
    tag: (tag: string) =>
      run(`tagged ${tag}`, async (row) =>
        row.tags.includes(tag) ? undefined : setTags(kind, row, [...row.tags, tag]),
      ),
    untag: (tag: string) => {
      const without = (row: BulkRow) => row.tags.filter((one) => one !== tag)
      return run(`without the tag ${tag}`, async (row) =>
        row.tags.includes(tag) ? setTags(kind, row, without(row)) : undefined,
      )
    },
    move: (scope: string) =>
      run(`moved to ${scope}`, async (row) => (row.scope === scope ? undefined : move(kind, row, scope))),
  }
}
