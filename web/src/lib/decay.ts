/** The server's own arithmetic (crates/domain/src/decay.rs), for drawing what it will be. */
export interface Decaying {
  confidence: number
  decay_rate: number
  last_confirmed_at?: string | null
}

const DAY = 86_400_000

export function confidenceAt(memory: Decaying, at: number): number {
  if (memory.decay_rate <= 0) return memory.confidence
  if (!memory.last_confirmed_at) return 0
  const days = Math.max(0, (at - Date.parse(memory.last_confirmed_at)) / DAY)
  return memory.confidence * Math.exp(-memory.decay_rate * days)
}

/** When it falls below a threshold; `null` if never. */
export function fallsBelow(memory: Decaying, threshold: number): Date | null {
  if (memory.decay_rate <= 0 || !memory.last_confirmed_at) return null
  const from = Date.parse(memory.last_confirmed_at)
  if (memory.confidence < threshold) return new Date(from)
  const days = Math.log(memory.confidence / threshold) / memory.decay_rate
  return Number.isFinite(days) ? new Date(from + days * DAY) : null
}

export const decayPerDay: Record<string, number> = {
  permanent: 0,
  stable: 0.002,
  standard: 0.008,
  volatile: 0.03,
  ephemeral: 0.1,
}
