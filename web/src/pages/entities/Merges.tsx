import { Link } from '@tanstack/react-router'
import type { EntityDetailAt } from '../../api/schema'
import { counted } from '../../lib/number'
import { Button } from '../../ui/Button'
import { Time } from '../../ui/Time'
import { useUnmerge } from './useUnmerge'

/** The entities that were merged into this one, each with a button that undoes it. */
export function Merges({ merges, canWrite }: { merges: EntityDetailAt['merges']; canWrite: boolean }) {
  const unmerge = useUnmerge()
  return (
    <ul aria-label="Merges" className="divide-y divide-line/60 border-t border-line/60">
      {merges.map((merge) => (
        <li key={merge.source_entity_id} className="flex items-center justify-between gap-3 py-2">
          <div className="min-w-0">
            <Link
              to="/entities/$id"
              params={{ id: merge.source_entity_id }}
              className="block truncate font-medium hover:underline"
            >
              {merge.canonical_name}
            </Link>
            <p className="figure text-xs text-muted">
              <Time at={merge.merged_at} how="date" /> · {counted(merge.facts_moved, 'fact')} moved
            </p>
          </div>
          {canWrite && (
            <Button
              size="small"
              aria-label={`Undo the merge of ${merge.canonical_name}`}
              busy={unmerge.isPending && unmerge.variables === merge.source_entity_id}
              onClick={() => unmerge.mutate(merge.source_entity_id)}
            >
              Undo
            </Button>
          )}
        </li>
      ))}
    </ul>
  )
}
