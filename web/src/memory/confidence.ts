import { fixed } from '../lib/number'
import { ago } from '../lib/time'

interface Confirmations {
  last_confirmed_at?: string | null
  created_at: string
  permanence?: string
}

/** Since when the confidence fades: `last confirmed 3 months ago`. */
export function confidenceReason(
  { last_confirmed_at, created_at, permanence }: Confirmations,
  now: number = Date.now(),
): string {
  if (permanence === 'permanent') return 'permanent, never fades'
  const known = last_confirmed_at && last_confirmed_at !== created_at
  return known ? `last confirmed ${ago(last_confirmed_at, now)}` : `learned ${ago(created_at, now)}`
}

/** Why a confidence is what it is: `0.41 confidence: last confirmed 3 months ago`. */
export function confidenceText(
  memory: Confirmations & { effective_confidence: number },
  now: number = Date.now(),
): string {
  return `${fixed(memory.effective_confidence)} confidence: ${confidenceReason(memory, now)}`
}
