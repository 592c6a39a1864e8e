import { useQuery } from '@tanstack/react-query'
import { request } from '../../api/client'
import { counted } from '../../lib/number'
import { Failure, Loading } from '../../ui/states'

interface Named {
  id: string
  canonical_name: string
}

/** What the server says the merge would do; nothing is written for it. */
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
  if (preview.isPending) return <Loading rows={3} label="Working out what will happen" />
  if (preview.isError) return <Failure error={preview.error} />
  const { facts_repointed, aliases_added, aliases, conflicts } = preview.data.data
  const moves = facts_repointed === 1 ? 'moves' : 'move'
  return (
    <div className="space-y-3">
      <ul className="list-disc space-y-1.5 pl-5">
        <li>
          {counted(facts_repointed, 'fact')} of <strong className="font-medium">{source.canonical_name}</strong> {moves}{' '}
          to <strong className="font-medium">{target.canonical_name}</strong>.
        </li>
        <li>
          {aliases_added === 0
            ? 'No new name is added.'
            : `${counted(aliases_added, 'name')} added. It will also be known as ${aliases.join(', ')}.`}
        </li>
        <li>
          {conflicts.length === 0
            ? 'No two facts contradict each other.'
            : `${counted(conflicts.length, 'fact')} give way to a more confident one:`}
        </li>
      </ul>
      {conflicts.length > 0 && (
        <ul
          className="max-h-48 space-y-2 overflow-y-auto rounded-md border border-line p-3"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: without focus the list cannot be scrolled by keyboard
          tabIndex={0}
          aria-label="Facts that give way"
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
      <p className="text-sm text-harm">This cannot be undone.</p>
    </div>
  )
}
