/** Dates of any precision, as the API gives them: `2023`, `2023-03`, `2023-03-05`, or a time. */
import { date } from './time'

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const DAY = 86_400_000

/** The year, month and day of a date without a time. */
function calendar(text: string): { year: string; month?: number; day?: number } | undefined {
  const parts = /^(\d{4})(?:-(\d\d)(?:-(\d\d))?)?$/.exec(text)
  if (!parts?.[1]) return undefined
  return {
    year: parts[1],
    ...(parts[2] ? { month: Number(parts[2]) } : {}),
    ...(parts[3] ? { day: Number(parts[3]) } : {}),
  }
}

/**
 * The day of a moment. Midnight in UTC is the start of a day that was given without a time, and stays that day in every
 * time zone. Any other moment is shown in local time.
 */
export function momentDay(at: string | number): string {
  const millis = typeof at === 'number' ? at : Date.parse(at)
  return millis % DAY === 0 ? briefDate(new Date(millis).toISOString().slice(0, 10)) : date(millis)
}

/** A date in its own precision: `2023`, `Mar 2024` or `5 Mar 2024`. */
export function briefDate(text: string): string {
  const given = calendar(text.trim())
  if (!given) return Number.isNaN(Date.parse(text)) ? text : momentDay(text)
  const { year, month, day } = given
  return [day, month && MONTHS[month - 1], year].filter(Boolean).join(' ')
}

/** The first moment of a date. A date without an offset is taken in UTC, the default zone of a butler. */
export function startOf(text: string): number {
  return Date.parse(text.trim())
}

interface Validity {
  valid_from?: string | null
  valid_to?: string | null
}

/** When a fact is true: `since 2023`, `until Mar 2024`, `from 1 Dec 2026`, or null if that is unknown. */
export function validityText({ valid_from: from, valid_to: to }: Validity, now: number = Date.now()): string | null {
  const words = [
    from && `${startOf(from) > now ? 'from' : 'since'} ${briefDate(from)}`,
    to && `until ${briefDate(to)}`,
  ].filter(Boolean)
  return words.length > 0 ? words.join(' ') : null
}

const two = (value: number) => String(value).padStart(2, '0')

/** The local day of a moment as `YYYY-MM-DD`. */
export function dayOf(at: number | Date): string {
  const local = new Date(at)
  return `${String(local.getFullYear()).padStart(4, '0')}-${two(local.getMonth() + 1)}-${two(local.getDate())}`
}

/** Whether a text is a day of the calendar as `YYYY-MM-DD`. */
export function isDay(text: string): boolean {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN
  // JavaScript accepts 30 February
  return !Number.isNaN(at) && new Date(at).toISOString().slice(0, 10) === text
}

/** Whole days since 1970, for days that count without time zones and daylight saving. */
export const dayNumber = (day: string): number => Date.parse(day) / DAY
export const dayFromNumber = (number: number): string => new Date(number * DAY).toISOString().slice(0, 10)

/** The API knows no day before. */
const FIRST = dayNumber('0001-01-01')

/** The earliest day of the dates, or undefined without any. */
export function earliestDay(dates: readonly (string | null | undefined)[]): string | undefined {
  const days = dates.flatMap((text) => (text ? [Math.floor(startOf(text) / DAY)] : [])).filter(Number.isFinite)
  return days.length > 0
    ? dayFromNumber(
        Math.max(
          FIRST,
          days.reduce((a, b) => Math.min(a, b)),
        ),
      )
    : undefined
}

/** The first day of a slider that ends today: a little before the earliest known day, and at least a year ago. */
export function sliderStart(earliest: string | undefined, today: string): string {
  const [last, known] = [dayNumber(today), dayNumber(earliest ?? today)]
  const before = Math.max(30, Math.round((last - known) / 10))
  return dayFromNumber(Math.max(FIRST, Math.min(last - 365, known - before)))
}
