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

/** The average rate of reads since the memory was learned. */
function readRate(memory: Read): string | null {
  const days = daysBetween(memory.created_at, Date.now())
  if (memory.reference_count < 2 || days < 2) return null
  const each = days / memory.reference_count
  if (each < 1.5)
    return `about ${counted(Math.round(memory.reference_count / days), 'time')} a day since it was learned`
  return `about every ${counted(Math.round(each), 'day')} since it was learned`
}

/** How often agents read the memory, and which agents can. Reads are counted, not logged: the readers are not known. */
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
      <p className="text-muted">{readers}. Viewing it in the dashboard does not count as a read.</p>
    </div>
  )
}
