import type { Decay } from '../api/schema'
import { counted, fixed } from '../lib/number'

/** The formula of the effective confidence with the server's numbers. */
export function DecayLine({ decay }: { decay: Decay }) {
  const { confidence, rate, days_since_confirmed: days, effective_confidence: effective } = decay
  if (rate <= 0)
    return <p className="figure text-muted">Permanent: confidence stays at {fixed(confidence)} and never fades.</p>
  if (days == null) return <p className="text-muted">Never confirmed, so its effective confidence is 0.</p>
  return (
    <p className="figure text-muted">
      <span className="font-mono text-sm text-ink">
        {fixed(confidence)} × e
        <sup>
          −{rate} × {days.toFixed(1)}
        </sup>{' '}
        = <strong className="font-semibold">{fixed(effective, 3)}</strong>
      </span>
      <span className="ml-2">
        {days < 0.5 ? 'confirmed today' : `after ${counted(Math.round(days), 'day')} without confirmation`}
      </span>
    </p>
  )
}
