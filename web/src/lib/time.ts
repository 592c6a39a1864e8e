const DAY = 86_400_000
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 365 * DAY],
  ['month', 30 * DAY],
  ['week', 7 * DAY],
  ['day', DAY],
  ['hour', 3_600_000],
  ['minute', 60_000],
]

export type Moment = string | number | Date

function millis(at: Moment): number {
  return at instanceof Date ? at.getTime() : typeof at === 'number' ? at : Date.parse(at)
}

/** `3 days ago`, `in 2 hours`, `just now`. */
export function ago(at: Moment, now: number = Date.now()): string {
  const distance = millis(at) - now
  const step = steps.find(([, size]) => Math.abs(distance) >= size)
  return step ? relative.format(Math.round(distance / step[1]), step[0]) : 'just now'
}

const dateFormat = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })
const timeFormat = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })
const short = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })

export const date = (at: Moment) => dateFormat.format(millis(at))
export const shortDate = (at: Moment) => short.format(millis(at))
export const clock = (at: Moment) => timeFormat.format(millis(at))
export const dateTime = (at: Moment) => `${date(at)}, ${clock(at)}`
export const daysBetween = (from: Moment, to: Moment) => (millis(to) - millis(from)) / DAY
export const plusDays = (at: Moment, days: number) => new Date(millis(at) + days * DAY)

/** The heading of a day: `Today`, `Yesterday`, or the date. */
export function dayName(at: Moment, now: number = Date.now()): string {
  const start = new Date(now)
  start.setHours(0, 0, 0, 0)
  const from = millis(at)
  if (from >= start.getTime() && from < start.getTime() + DAY) return 'Today'
  if (from < start.getTime() && from >= start.getTime() - DAY) return 'Yesterday'
  return weekday.format(from)
}
