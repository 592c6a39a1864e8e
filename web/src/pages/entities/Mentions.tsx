import { Link } from '@tanstack/react-router'
import type { EntityDetailAt } from '../../api/schema'
import { cx } from '../../lib/cx'
import { count } from '../../lib/number'
import { Time } from '../../ui/Time'

type Props = Pick<EntityDetailAt, 'canonical_name' | 'mentions' | 'mentions_total'>

/** The latest episodes that name the entity. */
export function Mentions({ entity }: { entity: Props }) {
  const { mentions, mentions_total: total } = entity
  if (mentions.length === 0) return <p className="text-muted">No episode names it.</p>
  return (
    <>
      <ul aria-label="Mentions" className="card overflow-hidden">
        {mentions.map((episode) => (
          <li
            key={episode.id}
            data-row=""
            className={cx(
              'relative grid gap-x-4 border-b border-line px-4 py-2.5 last:border-0',
              'sm:grid-cols-[minmax(0,1fr)_auto]',
            )}
          >
            <Link
              to="/memory/episodes/$id"
              params={{ id: episode.id }}
              className="memory-text line-clamp-2 after:absolute after:inset-0"
            >
              {episode.content}
            </Link>
            <span className="text-sm text-muted">
              <Time at={episode.created_at} how="date" />
            </span>
          </li>
        ))}
      </ul>
      {total > mentions.length && (
        <p className="mt-2 text-sm text-muted">
          The latest {mentions.length} of {count(total)}.{' '}
          <Link to="/memory/episodes" search={{ q: entity.canonical_name }} className="link">
            Search all episodes
          </Link>
        </p>
      )}
    </>
  )
}
