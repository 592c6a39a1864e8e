import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { request } from '../../api/client'
import { counted } from '../../lib/number'
import { failure, toast } from '../../ui/toast'

/** Undoes a merge. The id is that of the entity that was merged away. */
export function useUnmerge({ follow = false }: { follow?: boolean } = {}) {
  const client = useQueryClient()
  const navigate = useNavigate()
  return useMutation({
    mutationFn: (id: string) => request('post', '/api/memory/entities/{id}/unmerge', { path: { id } }),
    onSuccess: async ({ data }, id) => {
      toast(`Merge undone. ${counted(data.facts_moved, 'fact')} moved back.`)
      await client.invalidateQueries()
      if (follow) await navigate({ to: '/entities/$id', params: { id } })
    },
    onError: failure('Merge not undone'),
  })
}
