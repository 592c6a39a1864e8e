import { scaleLinear } from 'd3-scale'
import { count, counted } from '../lib/number'
import { Frame } from './Frame'
import { Hatch } from './Hatch'

export interface Bin {
  from: number
  to: number
  count: number
}

/** Whether a bin lies entirely below the threshold. The tolerance is for edges without an exact binary form. */
const isBelow = (bin: Bin, threshold: number) => bin.to <= threshold + 1e-9

export const countBelow = (bins: Bin[], threshold: number) =>
  bins.filter((bin) => isBelow(bin, threshold)).reduce((sum, bin) => sum + bin.count, 0)

interface Props {
  bins: Bin[]
  /** Below `retrieval` a memory fades, below `expiry` it expires. */
  thresholds: { retrieval: number; expiry: number }
}

const height = 168
const top = 28
const bottom = 20

/** The distribution of effective confidence over all active memories. */
export function Histogram({ bins, thresholds }: Props) {
  const most = Math.max(1, ...bins.map((bin) => bin.count))
  const total = bins.reduce((sum, bin) => sum + bin.count, 0)
  const fading = countBelow(bins, thresholds.retrieval)
  const y = scaleLinear([0, most], [height - bottom, top])
  return (
    <Frame
      height={height}
      label={
        `Effective confidence of ${count(total)} memories; ` +
        `${count(fading)} below the retrieval threshold ${thresholds.retrieval}`
      }
    >
      {(width) => {
        const x = scaleLinear([0, 1], [0, width])
        return (
          <>
            <Hatch id="histogram-hatch" />
            {bins.map((bin) => {
              const faded = isBelow(bin, thresholds.retrieval)
              const tall = bin.count > 0 ? Math.max(2, y(0) - y(bin.count)) : 0
              return (
                <g key={bin.from}>
                  <title>{`${bin.from.toFixed(2)}–${bin.to.toFixed(2)}: ${count(bin.count)}`}</title>
                  <rect
                    x={x(bin.from) + 1}
                    y={y(0) - tall}
                    width={Math.max(1, x(bin.to) - x(bin.from) - 2)}
                    height={tall}
                    rx="1.5"
                    className={faded ? '' : 'fill-accent'}
                    fill={faded ? 'url(#histogram-hatch)' : undefined}
                  />
                </g>
              )
            })}
            <line x1="0" x2={width} y1={y(0)} y2={y(0)} className="stroke-line-strong" />
            <line x1={x(thresholds.retrieval)} x2={width} y1={y(most)} y2={y(most)} className="stroke-line" />
            <text x={width} y={y(most) - 6} textAnchor="end" className="figure fill-muted text-2xs">
              {counted(most, 'memory', 'memories')}
            </text>
            {(
              [
                ['expiry', thresholds.expiry, 'expires below'],
                ['retrieval', thresholds.retrieval, 'fades below'],
              ] as const
            ).map(([name, at, label]) => (
              <g key={name}>
                <line
                  x1={x(at)}
                  x2={x(at)}
                  y1={name === 'expiry' ? 4 : 18}
                  y2={y(0)}
                  strokeDasharray="3 3"
                  className="stroke-line-strong"
                />
                <text x={x(at) + 5} y={name === 'expiry' ? 12 : 25} className="figure fill-muted text-2xs">
                  {label} {at}
                </text>
              </g>
            ))}
            {[0, 0.25, 0.5, 0.75, 1].map((tick) => (
              <text
                key={tick}
                x={x(tick)}
                y={height - 4}
                textAnchor={tick === 0 ? 'start' : tick === 1 ? 'end' : 'middle'}
                className="figure fill-muted text-2xs"
              >
                {tick}
              </text>
            ))}
          </>
        )
      }}
    </Frame>
  )
}
