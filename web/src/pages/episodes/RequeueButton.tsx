import { useMutation, useQueryClient } from '@tanstack/react-query'
import { request } from '../../api/client'
import { useHasRight } from '../../api/rights'
import { Button } from '../../ui/Button'
import { Icon } from '../../ui/Icon'
import { failure, toast } from '../../ui/toast'

/** Requeues a dead letter for consolidation. */
export function RequeueButton({ id, home }: { id: string; home: string }) {
  const client = useQueryClient()
  const requeue = useMutation({
    mutationFn: () =>
      request('post', '/api/memory/dead-letters/requeue', { query: { butler: home }, body: { ids: [id] } }),
    onSuccess: () => {
      toast('Requeued for the next consolidation run.')
      return client.invalidateQueries()
    },
    onError: failure('Not requeued'),
  })
  if (!useHasRight('admin')) return null
  return (
    <Button busy={requeue.isPending} onClick={() => requeue.mutate()}>
      <Icon name="undo" /> Requeue
    </Button>
  )
}
