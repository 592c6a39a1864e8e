import { Link } from '@tanstack/react-router'
import type { EntityDetailAt } from '../../api/schema'
import { counted, percent } from '../../lib/number'
import { Button } from '../../ui/Button'
import type { Named } from './MergeDialog'

interface Props {
  duplicates: EntityDetailAt['duplicates']
  /** Absent without the right to merge. */
  onMerge?: (duplicate: Named) => void
}

/** Entities whose names are so alike that they may be the same. */
export function Duplicates({ duplicates, onMerge }: Props) {
  return (
    <ul aria-label="Likely duplicates" className="divide-y divide-line/60 border-t border-line/60">
      {duplicates.map((duplicate) => (
        <li key={duplicate.id} className="flex items-center justify-between gap-3 py-2">
          <div className="min-w-0">
            <Link
              to="/entities/$id"
              params={{ id: duplicate.id }}
              className="block truncate font-medium hover:underline"
            >
              {duplicate.canonical_name}
            </Link>
            <p className="figure text-xs text-muted">
              {percent(duplicate.similarity)} alike · {counted(duplicate.facts, 'fact')}
            </p>
          </div>
          {onMerge && (
            <Button
              size="small"
              aria-label={`Merge with ${duplicate.canonical_name}`}
              onClick={() => onMerge(duplicate)}
            >
              Merge
            </Button>
          )}
        </li>
      ))}
    </ul>
  )
}
