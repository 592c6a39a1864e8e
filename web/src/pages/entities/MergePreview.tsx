import { useQuery } from '@tanstack/react-query'
import { request } from '../../api/client'
import { counted } from '../../lib/number'
import { Failure, Loading } from '../../ui/states'

interface Named {
  id: string
  canonical_name: string
}

/** What the merge would change, as computed by the server without writing anything. */
export function MergePreview({ source, target }: { source: Named; target: Named }) {
  const preview = useQuery({
    queryKey: ['merge-preview', source.id, target.id],
    queryFn: () =>
      request('post', '/api/memory/entities/{id}/merge', {
        path: { id: source.id },
        query: { preview: true },
        body: { target_entity_id: target.id },
      }),
  })
  if (preview.isPending) return <Loading rows={3} label="Loading preview" />
  if (preview.isError) return <Failure error={preview.error} />
  const { facts_repointed, aliases_added, aliases, conflicts } = preview.data.data
  return (
    <div className="space-y-3">
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
            ? 'No facts conflict.'
            : `${counted(conflicts.length, 'fact')} superseded by a more confident one:`}
        </li>
      </ul>
      {conflicts.length > 0 && (
        <ul
          className="max-h-48 space-y-2 overflow-y-auto rounded-md border border-line p-3"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: without focus the list cannot be scrolled by keyboard
          tabIndex={0}
          aria-label="Superseded facts"
        >
          {conflicts.map((conflict) => (
            <li key={conflict.loser_id} className="font-serif text-sm">
              <del className="text-muted">{conflict.loser}</del>
              <span aria-hidden="true"> → </span>
              <span>{conflict.winner}</span>
            </li>
          ))}
        </ul>
      )}
      <p className="text-sm text-muted">A merge can be undone.</p>
    </div>
  )
}
