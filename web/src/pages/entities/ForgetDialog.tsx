import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { request } from '../../api/client'
import { counted } from '../../lib/number'
import { Button } from '../../ui/Button'
import { Dialog } from '../../ui/Dialog'
import { Segments } from '../../ui/Segments'
import { Failure, Loading } from '../../ui/states'
import { toast } from '../../ui/toast'
import { ForgetPreview } from './ForgetPreview'
import { chosenIds, type Forgotten } from './forgotten'

type Way = 'retract' | 'erase'

const explanations: Record<Way, string> = {
  retract: 'Agents no longer recall what goes. It stays in the history.',
  erase: 'What goes is deleted from the database for good. This cannot be undone.',
}

function summary(done: Forgotten): string {
  const { facts, edges, mentions, canonical_name: name, erase } = done
  const { totals } = mentions
  const others = totals.facts + totals.rules + totals.episodes
  const parts = [counted(facts, 'fact'), counted(edges, 'relation'), counted(others, 'mention')]
  return `${erase ? 'Erased' : 'Forgot'} everything about ${name}: ${parts.join(', ')}.`
}

interface Props {
  entity: { id: string; canonical_name: string }
  onClose: () => void
}

/** Forgets or erases everything about an entity, after a preview in which each mention can be kept. */
export function ForgetDialog({ entity, onClose }: Props) {
  const [way, setWay] = useState<Way>('retract')
  const [kept, setKept] = useState<ReadonlySet<string>>(new Set())
  const [typed, setTyped] = useState('')
  const client = useQueryClient()
  const navigate = useNavigate()
  const erase = way === 'erase'
  const path = { id: entity.id }
  const forget = useMutation({
    mutationFn: (ids: ReturnType<typeof chosenIds>) =>
      request('post', '/api/memory/entities/{id}/forget', { path, body: { erase, dry_run: false, ...ids } }),
    onSuccess: async ({ data }) => {
      toast(summary(data))
      onClose()
      if (data.erase) await navigate({ to: '/entities' })
      await client.invalidateQueries()
    },
  })
  const preview = useQuery({
    queryKey: ['forget-preview', entity.id, erase],
    // once it is done, there is nothing to preview
    enabled: !forget.isPending && !forget.isSuccess,
    // the preview names what is gone afterwards, so it is not kept
    gcTime: 0,
    queryFn: () => request('post', '/api/memory/entities/{id}/forget', { path, body: { erase, dry_run: true } }),
  })
  const confirmed = !erase || typed.trim() === entity.canonical_name.trim()
  const data = preview.data?.data
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Forget everything about ${entity.canonical_name}?`}
      wide
    >
      <Segments
        label="How to forget"
        value={way}
        options={[
          ['retract', 'Forget'],
          ['erase', 'Erase permanently'],
        ]}
        onChange={setWay}
      />
      <p className="mt-2 text-muted">{explanations[way]}</p>
      <div className="mt-4">
        {preview.isPending ? (
          <Loading rows={3} label="Loading preview" />
        ) : preview.isError ? (
          <Failure error={preview.error} title="No preview" />
        ) : (
          data && <ForgetPreview preview={data} kept={kept} onKeep={setKept} />
        )}
      </div>
      {erase && data && (
        <label className="mt-4 block">
          <span className="label">Type {entity.canonical_name} to confirm</span>
          <input
            className="control mt-1 w-full"
            value={typed}
            autoComplete="off"
            onChange={(event) => setTyped(event.target.value)}
          />
        </label>
      )}
      {forget.isError && (
        <div className="mt-4">
          <Failure error={forget.error} title="Not forgotten" />
        </div>
      )}
      <div className="mt-5 flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          variant="danger"
          disabled={!data || !confirmed}
          busy={forget.isPending}
          onClick={() => data && forget.mutate(chosenIds(data, kept))}
        >
          {erase ? 'Erase everything' : 'Forget everything'}
        </Button>
      </div>
    </Dialog>
  )
}
