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

export const oneOf = <T extends string>(raw: Raw, name: string, allowed: readonly T[]): T | undefined =>
  allowed.find((value) => value === raw[name])

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
