import { useQuery } from '@tanstack/react-query'
import { getOptions } from '../../api/hooks'
import { counted } from '../../lib/number'
import { ago } from '../../lib/time'
import { actorName } from '../../memory/events'
import { MemoryLink } from '../../memory/MemoryLink'
import { Section } from '../../ui/Section'

const SIZE = 4
/** Serving memories is no change, so the event stream does not tell of it. */
const REFRESH_MS = 5000

const verbs = { context: 'started a session', recall: 'recalled', search: 'searched' } as const

/** Which agents asked, and what they were served. */
export function AgentActivity({ butler }: { butler: string | undefined }) {
  const query = useQuery({
    ...getOptions('/api/memory/injections', { query: { limit: SIZE, butler } }),
    refetchInterval: REFRESH_MS,
  })
  const calls = query.data?.data ?? []
  return (
    <Section title="Agent activity" quiet>
      {calls.length === 0 ? (
        <p className="text-sm text-muted">{query.isPending ? 'Loading…' : 'No agent has been given a memory yet.'}</p>
      ) : (
        <ul aria-label="Agent activity" className="card divide-y divide-line overflow-hidden">
          {calls.map((call) => {
            const known = call.memories.filter((memory) => memory.id && memory.label)
            return (
              <li key={call.id} className="px-4 py-1.5">
                <p className="flex items-baseline gap-2 text-sm">
                  <span className="min-w-0 flex-1 truncate">
                    <span className="font-medium">{call.actor ? actorName(call.actor) : call.home}</span>{' '}
                    <span className="text-muted">
                      {verbs[call.kind]} in {call.home}, was given {counted(call.memories.length, 'memory', 'memories')}
                    </span>
                  </span>
                  <time dateTime={call.served_at} className="shrink-0 text-xs text-muted">
                    {ago(call.served_at)}
                  </time>
                </p>
                <p className="truncate text-sm">
                  {known.slice(0, 1).map((memory) => (
                    <MemoryLink
                      key={memory.id}
                      kind={memory.memory_type}
                      id={memory.id ?? ''}
                      className="font-serif hover:underline"
                    >
                      {memory.label}
                    </MemoryLink>
                  ))}
                  {known.length > 1 && <span className="text-muted"> and {known.length - 1} more</span>}
                </p>
              </li>
            )
          })}
        </ul>
      )}
    </Section>
  )
}
