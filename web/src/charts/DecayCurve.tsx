import { scaleLinear, scaleTime } from 'd3-scale'
import { area, line } from 'd3-shape'
import type { CurvePoint, Decay } from '../api/schema'
import { plusDays, shortDate } from '../lib/time'
import { Frame } from './Frame'
import { Hatch } from './Hatch'

/** A constant line needs less room. */
const heights = { falling: 220, level: 112 }
const margin = { top: 16, right: 12, bottom: 24, left: 30 }
const timeOf = (point: CurvePoint) => Date.parse(point.at)

function describe(decay: Decay, first: CurvePoint, last: CurvePoint): string {
  if (decay.rate <= 0) return 'Confidence over the next 180 days: constant, never fades'
  const [from, to, confirmed] = [first.effective_confidence, last.effective_confidence, last.if_confirmed].map(
    (value) => value.toFixed(2),
  )
  return `Confidence over the next 180 days: from ${from} to ${to}, or ${confirmed} if confirmed today`
}

/**
 * The confidence over the next 180 days: when it fades, when it expires, and what a confirmation today would change.
 * The server computes the points.
 */
export function DecayCurve({ decay }: { decay: Decay }) {
  const { curve, rate, retrieval_threshold: retrieval, expiry_threshold: expiry } = decay
  const [first, last] = [curve[0], curve.at(-1)]
  if (!first || !last) return null
  const [now, end] = [timeOf(first), timeOf(last)]
  const height = rate > 0 ? heights.falling : heights.level
  // right after a confirmation the two curves coincide
  const gains = rate > 0 && first.if_confirmed - first.effective_confidence > 0.02
  const y = scaleLinear([0, 1], [height - margin.bottom, margin.top])
  // label the second curve where it is still high, so that the label does not cover the dates
  const labelled =
    curve.findLast(
      (point) => point.if_confirmed >= 0.74 * decay.confidence && timeOf(point) <= plusDays(now, 45).getTime(),
    ) ?? first
  const marks = [
    { on: decay.fades_on, value: retrieval, word: 'fades' },
    { on: decay.expires_on, value: expiry, word: 'expires' },
  ].flatMap(({ on, value, word }) =>
    on && Date.parse(on) > now && Date.parse(on) < end ? [{ at: Date.parse(on), value, word }] : [],
  )
  return (
    <>
      <Frame height={height} label={describe(decay, first, last)}>
        {(width) => {
          const x = scaleTime([now, end], [margin.left, width - margin.right])
          const at = (point: CurvePoint) => x(timeOf(point))
          const path = line<CurvePoint>(at, (point) => y(point.effective_confidence))
          const other = line<CurvePoint>(at, (point) => y(point.if_confirmed))
          const under = area<CurvePoint>(
            at,
            () => y(0),
            (point) => y(point.effective_confidence),
          )
          // both areas include the point at the threshold, so that no gap is left between them
          const turn = curve.findIndex((point) => point.effective_confidence < retrieval)
          const fresh = turn < 0 ? curve : curve.slice(0, turn + 1)
          const faded = turn < 0 ? [] : curve.slice(turn)
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
              {rate > 0 &&
                [retrieval, expiry].map((value) => (
                  <line
                    key={value}
                    x1={margin.left}
                    x2={width - margin.right}
                    y1={y(value)}
                    y2={y(value)}
                    strokeDasharray="1 3"
                    className="stroke-line-strong"
                  />
                ))}
              {gains && (
                <path
                  d={other(curve) ?? ''}
                  fill="none"
                  strokeDasharray="5 4"
                  strokeWidth="1.500"
                  className="stroke-muted"
                />
              )}
              <path d={path(curve) ?? ''} fill="none" strokeWidth="2" className="stroke-accent" />
              {gains && (
                <text
                  x={at(labelled) + 8}
                  y={Math.max(10, y(labelled.if_confirmed) - 4)}
                  strokeWidth="4"
                  className="fill-muted stroke-surface text-2xs [paint-order:stroke]"
                >
                  if confirmed today
                </text>
              )}
              {marks.map((mark) => {
                const place = x(mark.at)
                const right = place > width - 130
                return (
                  <g key={mark.word}>
                    <circle
                      cx={place}
                      cy={y(mark.value)}
                      r="4"
                      strokeWidth="2"
                      className="fill-surface stroke-fading"
                    />
                    <text
                      x={right ? place - 8 : place + 8}
                      y={y(mark.value) - 8}
                      textAnchor={right ? 'end' : 'start'}
                      strokeWidth="5"
                      className="figure fill-fading stroke-surface text-xs font-medium [paint-order:stroke]"
                    >
                      {mark.word} {shortDate(mark.at)}
                    </text>
                  </g>
                )
              })}
              {[0, 60, 120, 180].map((day) => (
                <text
                  key={day}
                  x={x(plusDays(now, day))}
                  y={height - 6}
                  textAnchor={day === 0 ? 'start' : day === 180 ? 'end' : 'middle'}
                  className="figure fill-muted text-2xs"
                >
                  {day === 0 ? 'today' : shortDate(plusDays(now, day))}
                </text>
              ))}
            </>
          )
        }}
      </Frame>
      {rate > 0 && (
        <p className="figure mt-2 text-xs text-muted">
          Dotted lines: it fades below {retrieval} and expires below {expiry}.
        </p>
      )}
    </>
  )
}
