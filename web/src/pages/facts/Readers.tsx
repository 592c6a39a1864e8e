import { counted } from '../../lib/number'
import { Time } from '../../ui/Time'

/** Reads by agents: looking at it here does not count. */
export function Readers({ count, last }: { count: number; last?: string | null }) {
  if (count === 0) return <p className="text-sm text-muted">No agent has read it yet. Looking at it here does not count.</p>
  return (
    <p className="text-sm">
      Agents read it <strong className="figure font-semibold">{counted(count, 'time')}</strong>
      {last && (
        <>
          , last <Time at={last} />
        </>
      )}
      . <span className="text-muted">Looking at it here does not count.</span>
    </p>
  )
}
