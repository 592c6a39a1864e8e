import { scaleTime } from 'd3-scale'

/** A fact of a key and when it is true, as the API gives it. */
export interface Period {
  id: string
  content: string
  validity: string
  /** `past`, `present`, `future` or `never`. */
  when: string
  valid_from?: string | null
  valid_to?: string | null
  holds_from: string | null
  holds_to: string | null
  created_at: string
  ended_at?: string | null
}

/** Where a period is drawn: its ends as parts of the width, from 0 to 1. */
export interface Bar {
  period: Period
  left: number
  width: number
  /** Nobody knows when it began. */
  openStart: boolean
  /** It has no known end. */
  openEnd: boolean
}

export interface Chart {
  bars: Bar[]
  now: number
  ticks: { at: number; label: string }[]
}

const DAY = 86_400_000
/** Space for ends that are open, as a part of the span. */
const MARGIN = 0.12
/** Labels of the axis that fit side by side on a phone. */
const TICKS = 4
/** A shorter bar would not be seen. */
const MIN_WIDTH = 0.006

/** Lays the periods in which facts hold out on one axis of time, which includes now. */
export function layOut(held: readonly Period[], now: number): Chart {
  const known = held.flatMap(({ holds_from, holds_to }) =>
    [holds_from, holds_to].flatMap((at) => (at ? [Date.parse(at)] : [])),
  )
  // without any date, the time since the facts were stored
  const stored = known.length > 0 ? [] : held.map((period) => Date.parse(period.created_at))
  const moments = [...known, ...stored, now]
  const first = moments.reduce((a, b) => Math.min(a, b))
  const last = moments.reduce((a, b) => Math.max(a, b))
  const margin = Math.max(DAY, (last - first) * MARGIN)
  const x = scaleTime([first - margin, last + margin], [0, 1])
  const format = x.tickFormat(TICKS)
  const bars = held.map((period) => {
    const left = period.holds_from ? x(Date.parse(period.holds_from)) : 0
    const right = period.holds_to ? x(Date.parse(period.holds_to)) : 1
    return {
      period,
      left,
      width: Math.max(MIN_WIDTH, right - left),
      openStart: !period.holds_from,
      openEnd: !period.holds_to,
    }
  })
  return {
    bars,
    now: x(now),
    ticks: x.ticks(TICKS).map((at) => ({ at: x(at), label: format(at) })),
  }
}

/** Whether a timeline says more than the fact itself. */
export function worthShowing(periods: readonly Period[]): boolean {
  return periods.length > 1 || periods.some(({ holds_from, holds_to }) => holds_from !== null || holds_to !== null)
}
