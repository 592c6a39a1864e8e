import type { ConflictSide as Side } from '../../api/schema'
import { capitalized } from '../../lib/labels'
import { SourceBadge } from '../../memory/badges'
import { confidenceReason } from '../../memory/confidence'
import { MemoryLink } from '../../memory/MemoryLink'
import { Confidence } from '../../ui/Confidence'

/** One fact of a conflict: what it says, where it comes from, how old and how sure it is. */
export function ConflictSide({ name, side }: { name: 'A' | 'B'; side: Side }) {
  return (
    <div className="min-w-0 rounded-md border border-line bg-surface p-3">
      <p className="flex min-w-0 flex-wrap items-baseline gap-x-2 text-sm text-muted">
        <strong className="font-semibold text-accent">{name}</strong>
        <bdi className="font-medium break-all text-ink">{side.subject}</bdi>
        <bdi className="break-all">{capitalized(side.predicate).toLowerCase()}</bdi>
      </p>
      <MemoryLink kind="fact" id={side.id} className="memory-text block text-lg hover:underline">
        {side.content}
      </MemoryLink>
      <p className="mt-2 flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted">
        <Confidence value={side.effective_confidence} why={confidenceReason(side)} />
        <SourceBadge source={side.source} />
        {side.source_butler && (
          <span>
            by <bdi className="break-all">{side.source_butler}</bdi>
          </span>
        )}
        <span className="break-all">scope {side.scope}</span>
        {side.source_episode_id ? (
          <MemoryLink kind="episode" id={side.source_episode_id}>
            Its episode
          </MemoryLink>
        ) : (
          <span>stored directly</span>
        )}
      </p>
    </div>
  )
}
