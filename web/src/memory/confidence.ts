import { fixed } from '../lib/number'
import { ago } from '../lib/time'

/** Why a confidence is what it is: `0.41 confidence: last confirmed 3 months ago`. */
export function confidenceText(
  { effective_confidence, last_confirmed_at, created_at }: ConfidenceParts,
  now: number = Date.now(),
): string {
  const known = last_confirmed_at && last_confirmed_at !== created_at
  const since = known ? `last confirmed ${ago(last_confirmed_at, now)}` : `learned ${ago(created_at, now)}`
  return `${fixed(effective_confidence)} confidence: ${since}`
}

interface ConfidenceParts {
  effective_confidence: number
  last_confirmed_at?: string | null
  created_at: string
}
