import { useMutation, useQueryClient } from '@tanstack/react-query'
import { request } from '../api/client'
import { failure, toast } from '../ui/toast'

export type Kind = 'fact' | 'rule'

/** Takes back the last confirmation or mark of a memory. */
export function useUndo(kind: Kind) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: async (id: string) => {
      if (kind === 'fact') await request('post', '/api/memory/facts/{id}/undo', { path: { id } })
      else await request('post', '/api/memory/rules/{id}/undo', { path: { id } })
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
      if (kind === 'fact') await request('post', '/api/memory/facts/{id}/confirm', { path: { id } })
      else await request('post', '/api/memory/rules/{id}/confirm', { path: { id } })
    },
    onSuccess: (_, id) => {
      toast('Confirmed.', { action: { label: 'Undo', run: () => undo.mutate(id) } })
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
      if (outcome === 'helpful') await request('post', '/api/memory/rules/{id}/helpful', { path: { id } })
      else await request('post', '/api/memory/rules/{id}/harmful', { path: { id }, body: { reason: reason || null } })
    },
    onSuccess: (_, { id }) => {
      toast(`Marked as ${outcome}.`, { action: { label: 'Undo', run: () => undo.mutate(id) } })
      return client.invalidateQueries()
    },
    onError: failure('Not marked'),
  })
}
