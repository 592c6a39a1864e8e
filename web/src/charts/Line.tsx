import { scaleLinear, scaleTime } from 'd3-scale'
import { area, curveMonotoneX, line } from 'd3-shape'
import { count } from '../lib/number'
import { shortDate } from '../lib/time'
import { Frame } from './Frame'

export interface Point {
  at: number
  value: number
}

interface Props {
  points: Point[]
  label: string
  height?: number
  /** The upper end of the scale; by default the largest value. */
  top?: number
  format?: (value: number) => string
}

const margin = { top: 18, right: 8, bottom: 20, left: 8 }

/** One quantity over time. */
export function Line({ points, label, height = 128, top, format = count }: Props) {
  const first = points[0]?.at ?? 0
  const last = points.at(-1)?.at ?? 1
  const most = top ?? Math.max(1, ...points.map((point) => point.value))
  const y = scaleLinear([0, most], [height - margin.bottom, margin.top])
  const end = points.at(-1)
  return (
    <Frame height={height} label={label}>
      {(width) => {
        const x = scaleTime([first, last], [margin.left, width - margin.right])
        const path = line<Point>(
          (p) => x(p.at),
          (p) => y(p.value),
        ).curve(curveMonotoneX)
        const under = area<Point>(
          (p) => x(p.at),
          () => y(0),
          (p) => y(p.value),
        ).curve(curveMonotoneX)
        return (
          <>
            <line x1="0" x2={width} y1={y(0)} y2={y(0)} className="stroke-line-strong" />
            <line x1="0" x2={width} y1={y(most)} y2={y(most)} className="stroke-line" />
            <text x="0" y={y(most) - 6} className="figure fill-muted text-2xs">
              {format(most)}
            </text>
            <path d={under(points) ?? ''} className="fill-accent-wash" />
            <path d={path(points) ?? ''} fill="none" strokeWidth="1.750" className="stroke-accent" />
            {end && (
              <circle cx={x(end.at)} cy={y(end.value)} r="3" className="fill-accent">
                <title>{`${shortDate(end.at)}: ${format(end.value)}`}</title>
              </circle>
            )}
            {end && (
              <text
                x={x(end.at)}
                y={y(end.value) - 8}
                textAnchor="end"
                strokeWidth="4"
                className="figure fill-accent stroke-surface text-xs font-medium [paint-order:stroke]"
              >
                {format(end.value)}
              </text>
            )}
            <text x="0" y={height - 4} className="figure fill-muted text-2xs">
              {shortDate(first)}
            </text>
            <text x={width} y={height - 4} textAnchor="end" className="figure fill-muted text-2xs">
              {shortDate(last)}
            </text>
          </>
        )
      }}
    </Frame>
  )
}
