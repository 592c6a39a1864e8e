import { Link } from '@tanstack/react-router'
import { cx } from '../lib/cx'
import { groupBy } from '../lib/group'
import { ago, clock, dayName } from '../lib/time'
import { Badge } from '../ui/Badge'
import { StatusBadge } from './badges'
import type { EpisodeRow } from './types'

function retrySummary(episode: EpisodeRow): string | null {
  if (episode.consolidation_status === 'consolidated' || episode.retry_count === 0) return null
  const tries = episode.retry_count === 1 ? 'one attempt' : `${episode.retry_count} attempts`
  return episode.last_error ? `${tries}, last: ${episode.last_error}` : tries
}

function Row({ episode, compact }: { episode: EpisodeRow; compact: boolean }) {
  const problem = retrySummary(episode)
  const expired = episode.expires_at && Date.parse(episode.expires_at) < Date.now()
  const soon = episode.expires_at && Date.parse(episode.expires_at) - Date.now() < 86_400_000
  return (
    <li
      data-row=""
      className={cx(
        'relative grid grid-cols-[3rem_minmax(0,1fr)] gap-x-3 border-b border-line px-4 py-3 last:border-0',
        !compact && 'md:grid-cols-[3rem_minmax(0,1fr)_auto]',
      )}
    >
      <span className="figure pt-0.5 text-sm text-muted">{clock(episode.created_at)}</span>
      <div className="min-w-0">
        <Link
          to="/memory/episodes/$id"
          params={{ id: episode.id }}
          className={cx(
            'memory-text line-clamp-2 text-lg after:absolute after:inset-0',
            expired && 'text-muted line-through decoration-line-strong',
          )}
        >
          {episode.content}
        </Link>
        {problem && <p className="mt-1 line-clamp-2 text-sm break-words text-harm">{problem}</p>}
      </div>
      <div
        className={cx(
          'col-start-2 mt-1.5 flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted',
          !compact && 'md:col-start-3 md:mt-0 md:justify-end',
        )}
      >
        {!compact && <span>{episode.butler}</span>}
        {episode.expires_at && soon && !expired && episode.consolidation_status !== 'consolidated' && (
          <span className="text-fading">◌ expires {ago(episode.expires_at)}</span>
        )}
        {expired && <Badge>✕ expired</Badge>}
        <StatusBadge status={episode.consolidation_status} />
      </div>
    </li>
  )
}

/** Episodes grouped by day, newest first. */
export function EpisodeList({
  episodes,
  level = 'h3',
  compact = false,
}: {
  episodes: EpisodeRow[]
  level?: 'h2' | 'h3'
  compact?: boolean
}) {
  const Heading = level
  return (
    <div className="space-y-5">
      {groupBy(episodes, (episode) => dayName(episode.created_at)).map(([day, list]) => (
        <div key={day}>
          <Heading className="mb-2 text-sm font-medium text-muted">{day}</Heading>
          <ul className="card overflow-hidden">
            {list.map((episode) => (
              <Row key={episode.id} episode={episode} compact={compact} />
            ))}
          </ul>
        </div>
      ))}
    </div>
  )
}
