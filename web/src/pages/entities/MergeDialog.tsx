import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { request } from '../../api/client'
import { useGet } from '../../api/hooks'
import type { EntityItemAt } from '../../api/schema'
import { counted } from '../../lib/number'
import { Button } from '../../ui/Button'
import { Dialog } from '../../ui/Dialog'
import { SearchField } from '../../ui/SearchField'
import { Failure, Loading } from '../../ui/states'
import { toast } from '../../ui/toast'
import { MergePreview } from './MergePreview'

/** Merges an entity into another, after a preview. The merge can be undone on the target's page. */
export function MergeDialog({
  entity,
  onClose,
}: {
  entity: { id: string; home: string; canonical_name: string }
  onClose: () => void
}) {
  const [query, setQuery] = useState('')
  const [target, setTarget] = useState<EntityItemAt | null>(null)
  const client = useQueryClient()
  const navigate = useNavigate()
  const candidates = useGet(
    '/api/memory/entities',
    { query: { q: query || undefined, butler: entity.home, sort: 'facts', limit: 8 } },
    { enabled: !target, keepPrevious: true },
  )
  const merge = useMutation({
    mutationFn: (targetId: string) =>
      request('post', '/api/memory/entities/{id}/merge', {
        path: { id: entity.id },
        body: { target_entity_id: targetId },
      }),
    onSuccess: async (_, targetId) => {
      toast(`Merged into ${target?.canonical_name ?? 'the other entity'}.`)
      onClose()
      await client.invalidateQueries()
      await navigate({ to: '/entities/$id', params: { id: targetId } })
    },
  })
  const others = (candidates.data?.data ?? []).filter((candidate) => candidate.id !== entity.id)
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Merge ${entity.canonical_name} into another entity`}
      description="Use this when two entities are the same person, place or thing."
      wide
    >
      {target ? (
        <>
          <MergePreview source={entity} target={target} />
          {merge.isError && <Failure error={merge.error} />}
          <div className="mt-5 flex justify-end gap-2">
            <Button onClick={() => setTarget(null)}>Choose another</Button>
            <Button variant="danger" busy={merge.isPending} onClick={() => merge.mutate(target.id)}>
              Merge entities
            </Button>
          </div>
        </>
      ) : (
        <>
          <SearchField
            label="Search for the entity to keep"
            placeholder="Name of the entity to keep"
            value={query}
            onChange={setQuery}
          />
          <div className="mt-3">
            {candidates.isPending ? (
              <Loading rows={3} />
            ) : candidates.isError ? (
              <Failure error={candidates.error} />
            ) : (
              <ul className="divide-y divide-line">
                {others.map((other) => (
                  <li key={other.id}>
                    <button
                      type="button"
                      onClick={() => setTarget(other)}
                      className="flex w-full items-baseline justify-between gap-3 px-2 py-2 text-left hover:bg-sunken"
                    >
                      <span className="min-w-0 truncate font-medium">{other.canonical_name}</span>
                      <span className="figure text-sm whitespace-nowrap text-muted">
                        {other.entity_type} · {counted(other.facts, 'fact')}
                      </span>
                    </button>
                  </li>
                ))}
                {others.length === 0 && <li className="py-4 text-center text-muted">No matching entities.</li>}
              </ul>
            )}
          </div>
        </>
      )}
    </Dialog>
  )
}
