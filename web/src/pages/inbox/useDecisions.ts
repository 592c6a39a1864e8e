import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { request } from '../../api/client'
import type { ConflictAt, ProposalAt, TombstoneAt } from '../../api/schema'
import { failure, toast } from '../../ui/toast'
import type { Distinction } from './KeepBothDialog'

export type Resolution = 'keep_a' | 'keep_b' | 'keep_both' | 'merge' | 'forget_both'

/** Also after an error, because the item may be decided on elsewhere. */
function useRefresh() {
  const client = useQueryClient()
  return () => client.invalidateQueries()
}

export function useApprove({ id, home, memory_type }: ProposalAt) {
  const navigate = useNavigate()
  return useMutation({
    mutationFn: () => request('post', '/api/memory/proposals/{id}/approve', { path: { id }, query: { butler: home } }),
    onSuccess: ({ data }) => {
      if (memory_type === 'episode') {
        toast('Approved. What is learned from the episode is proposed here.')
        return
      }
      const to = memory_type === 'fact' ? '/memory/facts/$id' : '/memory/rules/$id'
      const open = () => void navigate({ to, params: { id: data.memory_id ?? id } })
      toast(`Approved. The ${memory_type} is active.`, { action: { label: 'Open', run: open } })
    },
    onError: failure('Not approved'),
    onSettled: useRefresh(),
  })
}

export function useReject({ id, home, memory_type }: ProposalAt) {
  return useMutation({
    mutationFn: () => request('post', '/api/memory/proposals/{id}/reject', { path: { id }, query: { butler: home } }),
    onSuccess: () =>
      toast(memory_type === 'episode' ? 'Rejected. The episode is forgotten.' : 'Rejected. It is not proposed again.'),
    onError: failure('Not rejected'),
    onSettled: useRefresh(),
  })
}

export function useAllowAgain({ id, home }: TombstoneAt) {
  return useMutation({
    mutationFn: () => request('post', '/api/memory/tombstones/{id}/allow', { path: { id }, query: { butler: home } }),
    onSuccess: () => toast('Allowed. It is stored when it comes again.'),
    onError: failure('Not allowed'),
    onSettled: useRefresh(),
  })
}

const resolved: Record<Resolution, string> = {
  keep_a: 'Kept A and forgot B.',
  keep_b: 'Kept B and forgot A.',
  keep_both: 'Kept both.',
  merge: 'Merged. B is forgotten.',
  forget_both: 'Forgot both.',
}

/** Resolves a conflict. Undo opens it again and restores its facts. */
export function useResolve(conflict: ConflictAt) {
  const parameters = { path: { id: conflict.id }, query: { butler: conflict.home } }
  const refresh = useRefresh()
  const undo = useMutation({
    mutationFn: () => request('post', '/api/memory/conflicts/{id}/reopen', parameters),
    onSuccess: () => toast('Undone. The conflict is open again.'),
    onError: failure('Not undone'),
    onSettled: refresh,
  })
  return useMutation({
    mutationFn: (body: { resolution: Resolution; content?: string } & Distinction) =>
      request('post', '/api/memory/conflicts/{id}/resolve', { ...parameters, body }),
    onSuccess: (_, { resolution }) =>
      toast(resolved[resolution], { action: { label: 'Undo', run: () => undo.mutate() } }),
    onError: failure('Not resolved'),
    onSettled: refresh,
  })
}
