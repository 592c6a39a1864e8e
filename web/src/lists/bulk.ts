import { asApiError } from '../api/error'
import { counted } from '../lib/number'

/** Undoes what was done to one row. */
export type Undo = () => Promise<unknown>

export interface Outcome<T, R> {
  done: R[]
  /** The rows that were not changed, each with the reason. */
  failed: { row: T; reason: string }[]
}

/** Requests at the same time: enough to be quick, few enough to leave the server to others. */
const CONCURRENCY = 6

/** Does the same to each row. A row that fails does not keep the others from being done. */
export async function doEach<T, R>(rows: readonly T[], run: (row: T) => Promise<R>): Promise<Outcome<T, R>> {
  const outcome: Outcome<T, R> = { done: [], failed: [] }
  const waiting = [...rows]
  async function work() {
    for (let row = waiting.shift(); row !== undefined; row = waiting.shift()) {
      try {
        outcome.done.push(await run(row))
      } catch (error) {
        outcome.failed.push({ row, reason: asApiError(error).message })
      }
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  return outcome
}

/** `2 facts were not forgotten: the reason`, with the first reason if there are several. */
export function failureText<T>(failed: Outcome<T, unknown>['failed'], noun: string, verb: string): string {
  const reasons = new Set(failed.map(({ reason }) => reason))
  const [first = ''] = reasons
  const more = reasons.size > 1 ? ` (and ${counted(reasons.size - 1, 'other reason')})` : ''
  return `${counted(failed.length, noun)} ${failed.length === 1 ? 'was' : 'were'} not ${verb}: ${first}${more}`
}
