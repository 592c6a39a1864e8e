import { dayOf, isDay } from './dates'

/** A page's state in its URL: invalid values are ignored when reading, defaults are omitted when writing. */
type Raw = Record<string, unknown>

export const text = (raw: Raw, name: string): string | undefined => {
  const value = raw[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

export const whole = (raw: Raw, name: string): number | undefined => {
  const value = Number(raw[name])
  return raw[name] !== undefined && Number.isInteger(value) && value > 0 ? value : undefined
}

export const fraction = (raw: Raw, name: string): number | undefined => {
  const value = Number(raw[name])
  return raw[name] !== undefined && value > 0 && value <= 1 ? value : undefined
}

export const day = (raw: Raw, name: string): string | undefined => {
  const value = text(raw, name)
  return value && isDay(value) ? value : undefined
}

export const oneOf = <T extends string>(raw: Raw, name: string, allowed: readonly T[]): T | undefined =>
  allowed.find((value) => value === raw[name])

/** The time that a page shows. Nobody believes anything in the future yet, so that `as_of` is left out there. */
export interface TimeSearch {
  valid_at?: string | undefined
  as_of?: string | undefined
}

export function time(raw: Raw, today: string = dayOf(Date.now())): TimeSearch {
  const given = day(raw, 'as_of')
  const as_of = given && given < today ? given : undefined
  return { valid_at: day(raw, 'valid_at') ?? as_of, as_of }
}

export function parseSearch(search: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(search))
}

export function stringifySearch(search: Raw): string {
  const written = new URLSearchParams()
  for (const [name, value] of Object.entries(search)) {
    if (value !== undefined && value !== null && value !== '') written.set(name, String(value))
  }
  const result = written.toString()
  return result ? `?${result}` : ''
}
