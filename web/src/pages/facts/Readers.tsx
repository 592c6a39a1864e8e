import { useGet } from '../../api/hooks'
import { counted } from '../../lib/number'
import { daysBetween } from '../../lib/time'
import { Time } from '../../ui/Time'

interface Read {
  reference_count: number
  last_referenced_at?: string | null
  created_at: string
  scope: string
  home: string
}

/** How often, in a word a person can picture. */
function readRate(memory: Read): string | null {
  const days = daysBetween(memory.created_at, Date.now())
  if (memory.reference_count < 2 || days < 2) return null
  const each = days / memory.reference_count
  if (each < 1.5)
    return `about ${counted(Math.round(memory.reference_count / days), 'time')} a day since it was learned`
  return `about every ${counted(Math.round(each), 'day')} since it was learned`
}

/** The reads by agents, and who they can be. A read is counted, not written down: which session it was is not known. */
export function Readers({ memory }: { memory: Read }) {
  const butlers = useGet('/api/butlers')
  const names = (butlers.data?.data ?? []).map((butler) => butler.name)
  const readers =
    memory.scope === 'global'
      ? `Every agent of ${memory.home} can read it`
      : names.includes(memory.scope)
        ? `Agents of ${memory.scope} alone can read it`
        : `Agents that ask in the scope ${memory.scope} can read it`
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
      <p className="text-muted">
        {readers}. Reads are counted, not written down one by one; looking at it here does not count.
      </p>
    </div>
  )
}
