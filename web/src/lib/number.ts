const whole = new Intl.NumberFormat('en')

export const count = (value: number) => whole.format(value)
export const percent = (value: number) => `${Math.round(value * 100)}%`
export const fixed = (value: number, digits = 2) => value.toFixed(digits)

/** `1 fact`, `2 facts`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`
}

/** `512 B`, `34 kB`, `1.2 MB`. */
export function bytes(value: number): string {
  const [size, unit] = value < 1e3 ? [value, 'B'] : value < 1e6 ? [value / 1e3, 'kB'] : [value / 1e6, 'MB']
  return `${size < 10 && unit !== 'B' ? size.toFixed(1) : Math.round(size)} ${unit}`
}
