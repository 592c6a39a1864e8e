import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { request } from '../../api/client'
import { capitalized } from '../../lib/labels'
import { counted } from '../../lib/number'
import { Failure, Loading } from '../../ui/states'
import type { Named } from './MergeDialog'
import { MergeProfile } from './MergeProfile'

/** A list that scrolls when it is long. */
function Facts({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ul
      className="mt-2 max-h-48 space-y-2 overflow-y-auto rounded-md border border-line p-3"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: without focus the list cannot be scrolled by keyboard
      tabIndex={0}
      aria-label={label}
    >
      {children}
    </ul>
  )
}

/** What the merge would change, computed by the server without writing. Not renewed once the merge is under way. */
export function useMergePreview(source: Named, target: Named | null, merging: boolean) {
  return useQuery({
    enabled: target !== null && !merging,
    queryKey: ['merge-preview', source.id, target?.id],
    queryFn: () =>
      request('post', '/api/memory/entities/{id}/merge', {
        path: { id: source.id },
        query: { preview: true },
        body: { target_entity_id: target?.id ?? '' },
      }),
  })
}

interface Props {
  source: Named
  target: Named
  preview: ReturnType<typeof useMergePreview>
}

export function MergePreview({ source, target, preview }: Props) {
  if (preview.isPending) return <Loading rows={3} label="Loading preview" />
  if (preview.isError) return <Failure error={preview.error} title="No preview" />
  const { facts_repointed, aliases_added, aliases, conflicts, contradictions, ...sides } = preview.data.data
  return (
    <div className="space-y-4">
      <div className="grid gap-4 md:grid-cols-2">
        <MergeProfile profile={sides.source} label="Merged away" />
        <MergeProfile profile={sides.target} label="Kept" />
      </div>
      <ul className="list-disc space-y-1.5 pl-5">
        <li>
          {counted(facts_repointed, 'fact')} of <strong className="font-medium">{source.canonical_name}</strong>{' '}
          {facts_repointed === 1 ? 'moves' : 'move'} to <strong className="font-medium">{target.canonical_name}</strong>
          .
        </li>
        <li>
          {aliases_added === 0
            ? 'No aliases are added.'
            : `${counted(aliases_added, 'alias', 'aliases')} added. Its aliases will be ${aliases.join(', ')}.`}
        </li>
        <li>
          {conflicts.length === 0
            ? 'No two facts meet on one key.'
            : `${counted(conflicts.length, 'fact')} superseded by a more confident one with the same key:`}
          {conflicts.length > 0 && (
            <Facts label="Superseded facts">
              {conflicts.map((conflict) => (
                <li key={conflict.loser_id} className="font-serif text-sm">
                  <del className="text-muted">{conflict.loser}</del>
                  <span aria-hidden="true"> → </span>
                  <span>{conflict.winner}</span>
                </li>
              ))}
            </Facts>
          )}
        </li>
        <li>
          {contradictions.length === 0
            ? 'No facts contradict each other.'
            : `${counted(contradictions.length, 'contradiction')}: same predicate, different content. Both facts stay:`}
          {contradictions.length > 0 && (
            <Facts label="Contradictions">
              {contradictions.map(({ predicate, source: left, target: right }) => (
                <li key={`${predicate} ${left} ${right}`} className="text-sm">
                  <span className="text-muted">{capitalized(predicate)}:</span>{' '}
                  <span className="font-serif">{left}</span> <span className="text-muted">≠</span>{' '}
                  <span className="font-serif">{right}</span>
                </li>
              ))}
            </Facts>
          )}
        </li>
      </ul>
      <p className="text-sm text-muted">A merge can be undone.</p>
    </div>
  )
}
