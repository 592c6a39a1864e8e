import { momentDay } from '../../lib/dates'

interface Window {
  from: string | null
  /** The first moment after it. */
  to: string | null
  phrase: string
}

const DAY = 86_400_000

/** The last day before a moment. */
function dayBefore(at: string): string {
  const millis = Date.parse(at)
  return momentDay(millis % DAY === 0 ? millis - DAY : millis - 1)
}

/** The days of a window: `1 Jan 2031 to 31 Dec 2031`, `from 1 Jan 2031`, `5 Mar 2024`. */
export function windowText({ from, to }: Window): string {
  const [first, last] = [from && momentDay(from), to && dayBefore(to)]
  if (first && last) return first === last ? first : `${first} to ${last}`
  if (first) return `from ${first}`
  return last ? `until ${last}` : 'any time'
}
