import { useGet } from '../../api/hooks'
import { counted } from '../../lib/number'
import { daysBetween } from '../../lib/time'
import { Call } from '../../memory/Served'
import { Time } from '../../ui/Time'

/** Enough to see who reads it; the session pages show the rest. */
const SHOWN = 5

/** The latest calls that returned the memory. */
function Calls({ id }: { id: string }) {
  const calls = useGet('/api/memory/injections', { query: { memory_id: id, limit: SHOWN } })
  const rows = calls.data?.data ?? []
  if (rows.length === 0) return null
  return (
    <ul aria-label="Who read it" className="space-y-1 border-l border-line pl-3">
      {rows.map((call) => (
        <li key={call.id}>
          <Call call={call} />
        </li>
      ))}
      {(calls.data?.meta.total ?? 0) > SHOWN && (
        <li className="text-muted">and {counted((calls.data?.meta.total ?? 0) - SHOWN, 'earlier call')}</li>
      )}
    </ul>
  )
}

interface Read {
  id: string
  reference_count: number
  last_referenced_at?: string | null
  created_at: string
  scope: string
  home: string
}

/** The average rate of reads since the memory was learned. */
function readRate(memory: Read): string | null {
  const days = daysBetween(memory.created_at, Date.now())
  if (memory.reference_count < 2 || days < 2) return null
  const each = days / memory.reference_count
  if (each < 1.5)
    return `about ${counted(Math.round(memory.reference_count / days), 'time')} a day since it was learned`
  return `about every ${counted(Math.round(each), 'day')} since it was learned`
}

/** How often agents read the memory, who did lately, and which agents can. */
export function Readers({ memory }: { memory: Read }) {
  const butlers = useGet('/api/butlers')
  const names = (butlers.data?.data ?? []).map((butler) => butler.name)
  const readers =
    memory.scope === 'global'
      ? `Every agent of ${memory.home} can read it`
      : names.includes(memory.scope)
        ? `Only agents of ${memory.scope} can read it`
        : `Only agents that query the scope ${memory.scope} can read it`
  const rate = readRate(memory)
  return (
    <div className="space-y-1.5 text-sm">
      <p>
        {memory.reference_count === 0 ? (
          'No agent has read it yet.'
        ) : (
          <>
            Agents read it <strong className="figure font-semibold">{counted(memory.reference_count, 'time')}</strong>
            {memory.last_referenced_at && (
              <>
                , last <Time at={memory.last_referenced_at} />
              </>
            )}
            {rate && `; ${rate}`}.
          </>
        )}
      </p>
      <Calls id={memory.id} />
      <p className="text-muted">{readers}. Viewing it in the dashboard does not count as a read.</p>
    </div>
  )
}
