const whole = new Intl.NumberFormat('en')

export const count = (value: number) => whole.format(value)
export const percent = (value: number) => `${Math.round(value * 100)}%`
export const fixed = (value: number, digits = 2) => value.toFixed(digits)

/** `1 fact`, `2 facts`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`
}
