import { useMutation, useQueryClient } from '@tanstack/react-query'
import { request } from '../../api/client'
import type { ConflictAt, DuplicatePairAt, ProposalAt, TombstoneAt } from '../../api/schema'
import { failure, toast } from '../../ui/toast'
import type { Distinction } from './KeepBothDialog'

export type Resolution = 'keep_a' | 'keep_b' | 'keep_both' | 'merge' | 'forget_both'

/** Also after an error, because the item may be decided on elsewhere. */
function useRefresh() {
  const client = useQueryClient()
  return () => client.invalidateQueries()
}

/** Undoes an approval or a rejection; the proposal waits again. */
function useUndoDecision({ id, home }: ProposalAt) {
  return useMutation({
    mutationFn: () => request('post', '/api/memory/proposals/{id}/undo', { path: { id }, query: { butler: home } }),
    onSuccess: () => toast('Undone. The proposal waits again.'),
    onError: failure('Not undone'),
    onSettled: useRefresh(),
  })
}

export function useApprove(proposal: ProposalAt) {
  const { id, home, memory_type } = proposal
  const undo = useUndoDecision(proposal)
  return useMutation({
    mutationFn: () => request('post', '/api/memory/proposals/{id}/approve', { path: { id }, query: { butler: home } }),
    onSuccess: () =>
      toast(
        memory_type === 'episode'
          ? 'Approved. What is learned from the episode is proposed here.'
          : `Approved. The ${memory_type} is active.`,
        { action: { label: 'Undo', run: () => undo.mutate() } },
      ),
    onError: failure('Not approved'),
    onSettled: useRefresh(),
  })
}

export function useReject(proposal: ProposalAt) {
  const { id, home, memory_type } = proposal
  const undo = useUndoDecision(proposal)
  return useMutation({
    mutationFn: () => request('post', '/api/memory/proposals/{id}/reject', { path: { id }, query: { butler: home } }),
    onSuccess: () =>
      toast(memory_type === 'episode' ? 'Rejected. The episode is forgotten.' : 'Rejected. It is not proposed again.', {
        action: { label: 'Undo', run: () => undo.mutate() },
      }),
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

/** Records that two entities are different. Undo lists them as duplicates again. */
export function useKeepApart({ a, b, home }: DuplicatePairAt) {
  const refresh = useRefresh()
  const send = (apart: boolean) =>
    request('post', '/api/memory/entities/{id}/apart', {
      path: { id: a.id },
      query: { butler: home },
      body: { other_entity_id: b.id, apart },
    })
  const undo = useMutation({
    mutationFn: () => send(false),
    onSuccess: () => toast('Undone. The two are listed again.'),
    onError: failure('Not undone'),
    onSettled: refresh,
  })
  return useMutation({
    mutationFn: () => send(true),
    onSuccess: () => toast('Kept apart.', { action: { label: 'Undo', run: () => undo.mutate() } }),
    onError: failure('Not kept apart'),
    onSettled: refresh,
  })
}
