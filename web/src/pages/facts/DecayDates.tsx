import type { Decay } from '../../api/schema'
import { ago, date } from '../../lib/time'

/** The dates on which the memory fades and expires. */
export function DecayDates({ decay }: { decay: Decay }) {
  const now = Date.now()
  const { fades_on: fades, expires_on: expires } = decay
  if (!fades || !expires) return null
  const rows: [string, string | null | undefined][] = [
    [Date.parse(fades) < now ? 'Fading since' : 'Fades on', fades],
    [Date.parse(expires) < now ? 'Due to expire since' : 'Expires on', expires],
    ['If confirmed today, fades on', decay.if_confirmed_today.fades_on],
  ]
  return (
    <dl className="mt-3 mb-4 flex flex-wrap gap-x-8 gap-y-2">
      {rows.map(([name, at]) => (
        <div key={name}>
          <dt className="label">{name}</dt>
          <dd className="figure font-medium" title={at ? ago(at, now) : undefined}>
            {at ? date(at) : 'never'}
          </dd>
        </div>
      ))}
    </dl>
  )
}
