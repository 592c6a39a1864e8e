import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { request } from '../../api/client'
import type { EntityDetailAt } from '../../api/schema'
import { Button } from '../../ui/Button'
import { Dialog } from '../../ui/Dialog'
import { Failure } from '../../ui/states'
import { toast } from '../../ui/toast'
import { MergeCandidates } from './MergeCandidates'
import { MergePreview, useMergePreview } from './MergePreview'
import { useUnmerge } from './useUnmerge'

export interface Named {
  id: string
  canonical_name: string
}

interface Props {
  entity: Pick<EntityDetailAt, 'id' | 'home' | 'canonical_name' | 'duplicates'>
  /** The other entity, if it is chosen already. */
  other?: Named
  /** Stay on the page instead of opening the entity that remains. */
  stay?: boolean
  onClose: () => void
}

/** Merges two entities, after a preview. The toast and the pages of both offer to undo it. */
export function MergeDialog({ entity, other: chosen, stay = false, onClose }: Props) {
  const [other, setOther] = useState<Named | null>(chosen ?? null)
  const [swapped, setSwapped] = useState(false)
  const client = useQueryClient()
  const navigate = useNavigate()
  const unmerge = useUnmerge({ follow: !stay })
  const merge = useMutation({
    mutationFn: ({ source, target }: { source: Named; target: Named }) =>
      request('post', '/api/memory/entities/{id}/merge', {
        path: { id: source.id },
        body: { target_entity_id: target.id },
      }),
    onSuccess: async (_, { source, target }) => {
      toast(`${source.canonical_name} merged into ${target.canonical_name}.`, {
        action: { label: 'Undo', run: () => unmerge.mutate(source.id) },
      })
      onClose()
      // first away from the merged entity, which has no relations and no preview any more
      if (!stay) await navigate({ to: '/entities/$id', params: { id: target.id } })
      await client.invalidateQueries()
    },
  })
  const choose = (next: Named | null) => {
    merge.reset()
    setSwapped(false)
    setOther(next)
  }
  const source = swapped && other ? other : entity
  const target = swapped && other ? entity : other
  const preview = useMergePreview(source, target, merge.isPending || merge.isSuccess)
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Merge ${source.canonical_name} into ${target?.canonical_name ?? 'another entity'}`}
      description="Use this when two entities are the same person, place or thing."
      wide={target ? 'full' : true}
    >
      {target ? (
        <>
          <MergePreview source={source} target={target} preview={preview} />
          {merge.isError && (
            <div className="mt-4">
              <Failure error={merge.error} title="Not merged" />
            </div>
          )}
          <div className="mt-5 flex flex-wrap justify-end gap-2">
            <Button onClick={() => choose(null)}>Choose another</Button>
            <Button onClick={() => setSwapped(!swapped)}>Keep {source.canonical_name} instead</Button>
            <Button
              variant="danger"
              // nobody merges what they have not seen, and the server refuses a preview that arrives after its merge
              disabled={preview.isFetching}
              busy={merge.isPending}
              onClick={() => merge.mutate({ source, target })}
            >
              Merge entities
            </Button>
          </div>
        </>
      ) : (
        <MergeCandidates entity={entity} onChoose={choose} />
      )}
    </Dialog>
  )
}
