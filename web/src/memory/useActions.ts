import { useMutation, useQueryClient } from '@tanstack/react-query'
import { request } from '../api/client'
import { failure, toast } from '../ui/toast'

export type Kind = 'fact' | 'rule'

/** Confirming starts the decay anew, from today. */
export function useConfirm(kind: Kind) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: async (id: string) => {
      if (kind === 'fact') await request('post', '/api/memory/facts/{id}/confirm', { path: { id } })
      else await request('post', '/api/memory/rules/{id}/confirm', { path: { id } })
    },
    onSuccess: () => {
      toast('Confirmed. Its confidence is whole again.')
      return client.invalidateQueries()
    },
    onError: failure('Not confirmed'),
  })
}

/** Takes back a forgetting or an edit. */
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

/** Forgets at once; the message that says so can take it back. */
export function useForget(kind: Kind) {
  const client = useQueryClient()
  const restore = useRestore(kind)
  return useMutation({
    mutationFn: async (id: string) => {
      if (kind === 'fact') await request('delete', '/api/memory/facts/{id}', { path: { id } })
      else await request('delete', '/api/memory/rules/{id}', { path: { id } })
    },
    onSuccess: (_, id) => {
      toast(`The ${kind} is forgotten.`, { action: { label: 'Undo', run: () => restore.mutate(id) } })
      return client.invalidateQueries()
    },
    onError: failure('Not forgotten'),
  })
}

/** How a rule did, from someone who saw it. */
export function useMark(outcome: 'helpful' | 'harmful') {
  const client = useQueryClient()
  return useMutation({
    mutationFn: async ({ id, reason }: { id: string; reason?: string }) => {
      if (outcome === 'helpful') await request('post', '/api/memory/rules/{id}/helpful', { path: { id } })
      else await request('post', '/api/memory/rules/{id}/harmful', { path: { id }, body: { reason: reason || null } })
    },
    onSuccess: () => {
      toast(outcome === 'helpful' ? 'Marked as helpful.' : 'Marked as harmful.')
      return client.invalidateQueries()
    },
    onError: failure('Not marked'),
  })
}
