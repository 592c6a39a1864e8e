import { scaleLinear, scaleTime } from 'd3-scale'
import { area, line } from 'd3-shape'
import { confidenceAt, type Decaying, fallsBelow } from '../lib/decay'
import { plusDays, shortDate } from '../lib/time'
import { Frame } from './Frame'
import { Hatch } from './Hatch'

interface Props {
  memory: Decaying
  thresholds: { retrieval: number; expiry: number }
  now: number
}

const height = 220
const margin = { top: 16, right: 12, bottom: 24, left: 30 }
const DAYS = 180

/** Half a year ahead: when it fades, when it goes, and what a confirmation today would buy. */
export function DecayCurve({ memory, thresholds, now }: Props) {
  const end = plusDays(now, DAYS).getTime()
  const confirmed: Decaying = { ...memory, last_confirmed_at: new Date(now).toISOString() }
  const days = Array.from({ length: DAYS + 1 }, (_, day) => plusDays(now, day).getTime())
  const fades = fallsBelow(memory, thresholds.retrieval)
  const expires = fallsBelow(memory, thresholds.expiry)
  const y = scaleLinear([0, 1], [height - margin.bottom, margin.top])
  // where the other curve is still high: below, its label would lie on the dates
  const labelled = plusDays(now, memory.decay_rate > 0 ? Math.min(45, 0.3 / memory.decay_rate) : 0)
  const marks = [
    { at: fades, value: thresholds.retrieval, word: 'fades' },
    { at: expires, value: thresholds.expiry, word: 'expires' },
  ].filter((mark) => mark.at && mark.at.getTime() > now && mark.at.getTime() < end)
  const label =
    memory.decay_rate <= 0
      ? 'Confidence over the next 180 days: constant, it never fades'
      : `Confidence over the next 180 days: from ${confidenceAt(memory, now).toFixed(2)} to ${confidenceAt(memory, end).toFixed(2)}, or ${confidenceAt(confirmed, end).toFixed(2)} if confirmed today`
  return (
    <Frame height={height} label={label}>
      {(width) => {
        const x = scaleTime([now, end], [margin.left, width - margin.right])
        const path = line<number>((at) => x(at), (at) => y(confidenceAt(memory, at)))
        const other = line<number>((at) => x(at), (at) => y(confidenceAt(confirmed, at)))
        const under = area<number>((at) => x(at), () => y(0), (at) => y(confidenceAt(memory, at)))
        const fresh = days.filter((at) => confidenceAt(memory, at) >= thresholds.retrieval)
        const faded = days.filter((at) => confidenceAt(memory, at) < thresholds.retrieval)
        return (
          <>
            <Hatch id="decay-hatch" />
            {[0, 0.5, 1].map((tick) => (
              <g key={tick}>
                <line x1={margin.left} x2={width - margin.right} y1={y(tick)} y2={y(tick)} className="stroke-line" />
                <text x={margin.left - 6} y={y(tick) + 4} textAnchor="end" className="figure fill-muted text-2xs">
                  {tick}
                </text>
              </g>
            ))}
            <path d={under(fresh) ?? ''} className="fill-accent-wash" />
            <path d={under(faded) ?? ''} fill="url(#decay-hatch)" opacity="0.5" />
            {[thresholds.retrieval, thresholds.expiry].map((value) => (
              <line key={value} x1={margin.left} x2={width - margin.right} y1={y(value)} y2={y(value)} strokeDasharray="3 3" className="stroke-line-strong" />
            ))}
            {memory.decay_rate > 0 && <path d={other(days) ?? ''} fill="none" strokeDasharray="5 4" strokeWidth="1.500" className="stroke-muted" />}
            <path d={path(days) ?? ''} fill="none" strokeWidth="2" className="stroke-accent" />
            {memory.decay_rate > 0 && (
              <text x={x(labelled) + 8} y={Math.max(10, y(confidenceAt(confirmed, labelled.getTime())) - 4)} className="fill-muted text-2xs">
                if confirmed today
              </text>
            )}
            {marks.map((mark) => {
              const at = x(mark.at?.getTime() ?? now)
              const right = at > width - 130
              return (
                <g key={mark.word}>
                  <circle cx={at} cy={y(mark.value)} r="4" strokeWidth="2" className="fill-surface stroke-fading" />
                  <text x={right ? at - 8 : at + 8} y={y(mark.value) - 8} textAnchor={right ? 'end' : 'start'} className="figure fill-fading text-xs font-medium">
                    {mark.word} {mark.at && shortDate(mark.at)}
                  </text>
                </g>
              )
            })}
            {[0, 60, 120, 180].map((day) => (
              <text key={day} x={x(plusDays(now, day))} y={height - 6} textAnchor={day === 0 ? 'start' : day === 180 ? 'end' : 'middle'} className="figure fill-muted text-2xs">
                {day === 0 ? 'today' : shortDate(plusDays(now, day))}
              </text>
            ))}
          </>
        )
      }}
    </Frame>
  )
}
