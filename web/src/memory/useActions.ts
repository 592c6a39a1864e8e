import { useMutation, useQueryClient } from '@tanstack/react-query'
import { request } from '../api/client'
import { failure, toast } from '../ui/toast'

export type Kind = 'fact' | 'rule'

/** Takes back the confirmation or mark of a memory that was made at a time. */
export function useUndo(kind: Kind) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: async ({ id, at }: { id: string; at: string | null | undefined }) => {
      const made = { path: { id }, query: { at: at ?? undefined } }
      if (kind === 'fact') await request('post', '/api/memory/facts/{id}/undo', made)
      else await request('post', '/api/memory/rules/{id}/undo', made)
    },
    onSuccess: () => {
      toast('Undone.')
      return client.invalidateQueries()
    },
    onError: failure('Not undone'),
  })
}

/** Confirms a memory, which restarts its decay today. */
export function useConfirm(kind: Kind) {
  const client = useQueryClient()
  const undo = useUndo(kind)
  return useMutation({
    mutationFn: async (id: string) => {
      if (kind === 'fact') return (await request('post', '/api/memory/facts/{id}/confirm', { path: { id } })).data
      return (await request('post', '/api/memory/rules/{id}/confirm', { path: { id } })).data
    },
    onSuccess: ({ last_confirmed_at: at }, id) => {
      toast('Confirmed.', { action: { label: 'Undo', run: () => undo.mutate({ id, at }) } })
      return client.invalidateQueries()
    },
    onError: failure('Not confirmed'),
  })
}

/** Restores a memory that was forgotten or superseded. */
export function useRestore(kind: Kind) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: async (id: string) => {
      if (kind === 'fact') await request('post', '/api/memory/facts/{id}/restore', { path: { id } })
      else await request('post', '/api/memory/rules/{id}/restore', { path: { id } })
    },
    onSuccess: () => {
      toast('Restored.')
      return client.invalidateQueries()
    },
    onError: failure('Not restored'),
  })
}

/** Forgets a memory at once; the toast offers to undo it. */
export function useForget(kind: Kind) {
  const client = useQueryClient()
  const restore = useRestore(kind)
  return useMutation({
    mutationFn: async (id: string) => {
      if (kind === 'fact') return (await request('delete', '/api/memory/facts/{id}', { path: { id } })).data.previous_id
      await request('delete', '/api/memory/rules/{id}', { path: { id } })
      return null
    },
    onSuccess: (previous, id) => {
      const kept = previous ? ' The version before it stays superseded.' : ''
      toast(`${kind === 'fact' ? 'Fact' : 'Rule'} forgotten.${kept}`, {
        action: { label: 'Undo', run: () => restore.mutate(id) },
      })
      return client.invalidateQueries()
    },
    onError: failure('Not forgotten'),
  })
}

/** Marks a rule as helpful or harmful. */
export function useMark(outcome: 'helpful' | 'harmful') {
  const client = useQueryClient()
  const undo = useUndo('rule')
  return useMutation({
    mutationFn: async ({ id, reason }: { id: string; reason?: string }) => {
      if (outcome === 'helpful') return (await request('post', '/api/memory/rules/{id}/helpful', { path: { id } })).data
      const body = { reason: reason || null }
      return (await request('post', '/api/memory/rules/{id}/harmful', { path: { id }, body })).data
    },
    onSuccess: ({ last_applied_at: at }, { id }) => {
      toast(`Marked as ${outcome}.`, { action: { label: 'Undo', run: () => undo.mutate({ id, at }) } })
      return client.invalidateQueries()
    },
    onError: failure('Not marked'),
  })
}
