import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { cx } from '../lib/cx'
import { momentDay, validityText } from '../lib/dates'
import { StateBadge } from '../memory/badges'
import { Badge } from '../ui/Badge'
import { type Bar, layOut, type Period } from './periodLayout'

/** More rows are easier to read one after another than at a glance; a button shows them. */
const FEW = 20

const percent = (part: number) => `${part * 100}%`

/** As stated, or as it follows from the other facts of the key. */
function when({ valid_from, valid_to, holds_from, holds_to }: Period): string {
  return validityText({ valid_from: valid_from ?? holds_from, valid_to: valid_to ?? holds_to }) ?? 'no dates known'
}

/** An expired fact is no longer recalled, although nothing took its place. */
const isTrueNow = ({ when, validity }: Period) => when === 'present' && validity !== 'expired'

function Strip({ bar, now }: { bar: Bar; now: number }) {
  const { period, left, width, openStart, openEnd } = bar
  return (
    <div aria-hidden="true" className="relative mt-1 h-3 rounded-sm bg-sunken">
      <div
        className={cx(
          'absolute inset-y-0',
          period.when === 'future'
            ? 'border border-dashed border-accent bg-accent-wash'
            : isTrueNow(period)
              ? 'bg-accent'
              : 'bg-line-strong',
          openStart ? 'mask-l-from-[calc(100%-3rem)]' : 'rounded-l-sm',
          openEnd ? 'mask-r-from-[calc(100%-3rem)]' : 'rounded-r-sm',
        )}
        style={{ left: percent(left), width: percent(width) }}
      />
      <div className="absolute -inset-y-1 w-px bg-ink" style={{ left: percent(now) }} />
    </div>
  )
}

function Row({ bar, now, current }: { bar: Bar; now: number; current: string }) {
  const { period } = bar
  return (
    <li>
      <Link to="/memory/facts/$id" params={{ id: period.id }} className="group block rounded-md py-0.5">
        <span className="flex flex-wrap items-baseline justify-between gap-x-3">
          <span
            className={cx(
              'memory-text line-clamp-2 min-w-0 group-hover:underline',
              isTrueNow(period) && 'font-semibold',
            )}
          >
            {period.content}
          </span>
          <span className="flex flex-wrap items-center gap-x-2 text-sm text-muted">
            {period.id === current && <span>this fact</span>}
            <span className="figure">{when(period)}</span>
            {isTrueNow(period) && <Badge tone="accent">now</Badge>}
            {period.validity === 'expired' && <StateBadge state="expired" />}
            {period.when === 'future' && <Badge>planned</Badge>}
          </span>
        </span>
        <Strip bar={bar} now={now} />
      </Link>
    </li>
  )
}

/** When each fact of a key is true: a list with a bar per period, and the facts that were never true below it. */
export function Periods({ periods, current }: { periods: Period[]; current: string }) {
  const [all, setAll] = useState(false)
  const held = periods.filter((period) => period.when !== 'never')
  const latest = held.slice(-FEW)
  const shown = all || !latest.some((period) => period.id === current) ? held : latest
  const chart = layOut(shown, Date.now())
  const never = periods.filter((period) => period.when === 'never')
  return (
    <>
      {shown.length < held.length && (
        <button type="button" className="link mb-2 text-sm" onClick={() => setAll(true)}>
          Show {held.length - shown.length} earlier
        </button>
      )}
      {shown.length > 0 && (
        <>
          <ol aria-label="Periods, earliest first" className="space-y-2">
            {chart.bars.map((bar) => (
              <Row key={bar.period.id} bar={bar} now={chart.now} current={current} />
            ))}
          </ol>
          <div aria-hidden="true" className="figure relative mt-2 h-4 text-2xs text-muted">
            {chart.ticks
              .filter(({ at }) => at > 0.04 && at < 0.96 && Math.abs(at - chart.now) > 0.09)
              .map(({ at, label }) => (
                <span key={at} className="absolute -translate-x-1/2" style={{ left: percent(at) }}>
                  {label}
                </span>
              ))}
            <span
              className="absolute -translate-x-1/2 font-medium text-ink"
              style={{ left: percent(Math.min(0.97, chart.now)) }}
            >
              now
            </span>
          </div>
        </>
      )}
      {never.length > 0 && (
        <div className={cx(shown.length > 0 && 'mt-4 border-t border-line pt-3')}>
          <h3 className="label mb-1">Never true</h3>
          <ul aria-label="Never true" className="space-y-1">
            {never.map((period) => (
              <li key={period.id} className="flex flex-wrap items-baseline gap-x-3">
                <Link
                  to="/memory/facts/$id"
                  params={{ id: period.id }}
                  className="memory-text min-w-0 text-muted line-through decoration-line-strong hover:text-ink"
                >
                  {period.content}
                </Link>
                <span className="flex items-center gap-x-2 text-sm text-muted">
                  <StateBadge state={period.validity} always />
                  {period.ended_at && <span className="figure">{momentDay(period.ended_at)}</span>}
                </span>
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  )
}
