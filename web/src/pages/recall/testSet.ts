/** A question with the memories that it should recall. */
export interface Case {
  q: string
  expected: { id: string; label: string }[]
}

const KEY = 'butler.recall-tests'
/** Far more than a person writes by hand; the storage of a browser is small. */
const MAX_CASES = 200

const isCase = (value: unknown): value is Case => {
  const { q, expected } = (value ?? {}) as Partial<Case>
  return (
    typeof q === 'string' &&
    Array.isArray(expected) &&
    expected.every((one) => typeof one?.id === 'string' && typeof one.label === 'string')
  )
}

/** Reads a test set from a file. Throws when the text is not one. */
export function parseCases(text: string): Case[] {
  const parsed: unknown = JSON.parse(text)
  if (!Array.isArray(parsed) || !parsed.every(isCase)) throw new Error('this is not a test set')
  return parsed.slice(0, MAX_CASES).map(({ q, expected }) => ({
    q,
    expected: expected.map(({ id, label }) => ({ id, label })),
  }))
}

/** The test set of this browser. */
export function loadCases(): Case[] {
  try {
    return parseCases(localStorage.getItem(KEY) ?? '[]')
  } catch {
    return []
  }
}

export function saveCases(cases: Case[]) {
  localStorage.setItem(KEY, JSON.stringify(cases))
}

/** Adds an expected memory to the case of a question, or removes it. A case without expectations goes. */
export function toggle(cases: Case[], q: string, memory: { id: string; label: string }): Case[] {
  const known = cases.find((one) => one.q === q)
  if (!known) return [...cases, { q, expected: [memory] }].slice(-MAX_CASES)
  const without = known.expected.filter(({ id }) => id !== memory.id)
  const expected = without.length === known.expected.length ? [...known.expected, memory] : without
  return cases.flatMap((one) => (one !== known ? [one] : expected.length > 0 ? [{ q, expected }] : []))
}

/** The share of the expected memories among the first k results. */
export function hitAtK(expected: readonly { id: string }[], results: readonly { id: string }[], k: number): number {
  const first = new Set(results.slice(0, k).map(({ id }) => id))
  return expected.length === 0 ? 0 : expected.filter(({ id }) => first.has(id)).length / expected.length
}

export const mean = (values: number[]) =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
