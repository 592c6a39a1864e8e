import { useState } from 'react'
import { Line } from '../../charts/Line'
import { cx } from '../../lib/cx'
import { percent } from '../../lib/number'
import { Time } from '../../ui/Time'

export interface Application {
  id: string
  outcome: string
  reason?: string | null
  effectiveness_score: number
  maturity: string
  actor?: string | null
  applied_at: string
}

/** The effectiveness after each mark. */
export function EffectivenessOverTime({ marks }: { marks: { at: string; effectiveness: number }[] }) {
  const points = marks.map((mark) => ({ at: Date.parse(mark.at), value: mark.effectiveness }))
  if (points.length < 2) return <p className="text-muted">The chart needs at least two marks.</p>
  const last = points.at(-1)?.value ?? 0
  return (
    <Line
      points={points}
      top={1}
      format={percent}
      height={152}
      label={`Effectiveness over ${points.length} marks, now ${percent(last)}`}
    />
  )
}

/** How many marks are shown at first. A useful rule has many, and the latest say the most. */
const FIRST = 8

/** Every mark, newest first. */
export function Applications({ applications }: { applications: Application[] }) {
  const [all, setAll] = useState(false)
  if (applications.length === 0) return <p className="text-muted">Not applied yet.</p>
  const shown = all ? applications : applications.slice(0, FIRST)
  return (
    <ul className="divide-y divide-line">
      {shown.map((application) => {
        const helpful = application.outcome === 'helpful'
        return (
          <li key={application.id} className="grid grid-cols-[1.25rem_minmax(0,1fr)_auto] gap-x-2 py-2">
            <span aria-hidden="true" className={cx('text-center', helpful ? 'text-accent' : 'text-harm')}>
              {helpful ? '▲' : '▼'}
            </span>
            <div className="min-w-0">
              <p className="text-sm">
                <span className={helpful ? '' : 'font-medium text-harm'}>{helpful ? 'Helpful' : 'Harmful'}</span>
                <span className="figure text-muted">
                  {' '}
                  · {percent(application.effectiveness_score)} effective at the time
                </span>
              </p>
              {application.reason && <p className="font-serif break-words">{application.reason}</p>}
            </div>
            <span className="text-xs text-muted">
              <Time at={application.applied_at} />
            </span>
          </li>
        )
      })}
      {shown.length < applications.length && (
        <li className="py-2">
          <button type="button" className="link text-sm" onClick={() => setAll(true)}>
            Show all {applications.length}
          </button>
        </li>
      )}
    </ul>
  )
}
