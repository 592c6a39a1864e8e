import type { Decaying } from '../lib/decay'
import { counted, fixed } from '../lib/number'
import { daysBetween } from '../lib/time'

/** The arithmetic behind the number, in one line. */
export function DecayLine({ memory, effective, now }: { memory: Decaying; effective: number; now: number }) {
  if (memory.decay_rate <= 0) {
    return <p className="figure text-muted">Permanent: it stays at {fixed(memory.confidence)} without confirmation.</p>
  }
  if (!memory.last_confirmed_at) return <p className="text-muted">Never confirmed, so it is worth nothing yet.</p>
  const days = Math.max(0, daysBetween(memory.last_confirmed_at, now))
  return (
    <p className="figure text-muted">
      <span className="font-mono text-sm text-ink">
        {fixed(memory.confidence)} × e<sup>−{memory.decay_rate} × {days.toFixed(1)}</sup> = <strong className="font-semibold">{fixed(effective, 3)}</strong>
      </span>
      <span className="ml-2">
        after {counted(Math.round(days), 'day')} without confirmation
      </span>
    </p>
  )
}
