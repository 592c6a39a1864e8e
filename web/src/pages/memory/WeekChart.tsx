import { useWidth } from '../../charts/useWidth'
import { date } from '../../lib/time'
import { type Counts, phrase, type Section, sections } from './week'

const HEIGHT = 96
const LABELS = 16
const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'short' })

/** Each section has its own colour and its own place in the legend. */
export const fills: Record<Section, string> = {
  learned: 'fill-accent',
  changed: 'fill-bar',
  contradicted: 'fill-harm',
  lost: 'fill-fading',
}
const swatches: Record<Section, string> = {
  learned: 'bg-accent',
  changed: 'bg-bar',
  contradicted: 'bg-harm',
  lost: 'bg-fading',
}

interface Props {
  days: { day: string; counts: Counts }[]
}

const total = (counts: Counts) => sections.reduce((sum, section) => sum + counts[section], 0)

/** The changes of each day of the week, one column a day. */
export function WeekChart({ days }: Props) {
  const [ref, width] = useWidth<HTMLDivElement>(400)
  const most = Math.max(1, ...days.map(({ counts }) => total(counts)))
  const step = width / days.length
  const spoken = days
    .map(({ day, counts }) => `${date(day)}: ${sections.map((section) => phrase(section, counts[section])).join(', ')}`)
    .join('; ')
  return (
    <div ref={ref}>
      <svg width={width} height={HEIGHT + LABELS} role="img" aria-label={`Changes by day. ${spoken}`}>
        {days.map(({ day, counts }, index) => {
          let top = HEIGHT
          return (
            <g key={day}>
              {sections.map((section) => {
                const height = (counts[section] / most) * (HEIGHT - 4)
                top -= height
                return height > 0 ? (
                  <rect
                    key={section}
                    x={index * step + step * 0.2}
                    y={top}
                    width={step * 0.6}
                    height={Math.max(1.5, height - 1)}
                    rx="1.5"
                    className={fills[section]}
                  />
                ) : null
              })}
              <text
                x={index * step + step / 2}
                y={HEIGHT + LABELS - 3}
                textAnchor="middle"
                className="fill-muted text-2xs"
              >
                {weekday.format(Date.parse(`${day}T12:00:00`))}
              </text>
            </g>
          )
        })}
      </svg>
      <ul aria-hidden="true" className="mt-1 flex flex-wrap gap-x-3 text-xs text-muted">
        {sections.map((section) => (
          <li key={section} className="flex items-center gap-1">
            <span className={`size-2 rounded-xs ${swatches[section]}`} />
            {section}
          </li>
        ))}
      </ul>
    </div>
  )
}
