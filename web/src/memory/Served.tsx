import { Link } from '@tanstack/react-router'
import type { InjectionAt } from '../api/schema'
import { counted } from '../lib/number'
import { Time } from '../ui/Time'
import { KindBadge } from './badges'
import { actorName } from './events'
import { MemoryLink } from './MemoryLink'

/** The tools that serve memories, in words. */
const served: Record<string, string> = { recall: 'Recall', search: 'Search', context: 'Session context' }

/** Who asked, when and in which session. */
export function Call({ call, linked = true }: { call: InjectionAt; linked?: boolean }) {
  return (
    <span className="flex flex-wrap items-baseline gap-x-2">
      <span>{served[call.kind] ?? call.kind}</span>
      {call.actor && <bdi className="break-all text-muted">{actorName(call.actor)}</bdi>}
      <Time at={call.served_at} />
      {linked && call.session_id && (
        <Link to="/memory/sessions/$id" params={{ id: call.session_id }} className="link">
          session
        </Link>
      )}
    </span>
  )
}

/** One call with everything that it was given. */
export function ServedCall({ call }: { call: InjectionAt }) {
  return (
    <li className="px-4 py-3">
      <p className="flex flex-wrap justify-between gap-x-4 text-sm">
        <Call call={call} linked={false} />
        <span className="text-muted">{counted(call.memories.length, 'memory', 'memories')}</span>
      </p>
      <ol className="mt-1 space-y-0.5">
        {call.memories.map((memory) => (
          <li key={memory.rank} className="flex min-h-6 items-baseline gap-2 text-sm">
            <span className="figure w-5 shrink-0 text-right text-muted">{memory.rank}</span>
            {memory.id && memory.label ? (
              <MemoryLink
                kind={memory.memory_type}
                id={memory.id}
                className="min-w-0 truncate font-serif hover:underline"
              >
                {memory.label}
              </MemoryLink>
            ) : (
              <span className="text-muted italic">no longer stored</span>
            )}
            <KindBadge kind={memory.memory_type} />
            {memory.state && memory.state !== 'active' && <span className="text-muted">{memory.state}</span>}
          </li>
        ))}
      </ol>
    </li>
  )
}
