/** Labels for the values of the API. */
export const maturityLabel: Record<string, string> = {
  candidate: 'Candidate',
  established: 'Established',
  proven: 'Proven',
  anti_pattern: 'Warning',
}

export const maturityGlyph: Record<string, string> = {
  candidate: '○',
  established: '◐',
  proven: '●',
  anti_pattern: '⚠',
}

export const statusLabel: Record<string, string> = {
  pending: 'Pending',
  consolidated: 'Consolidated',
  failed: 'Failed',
  dead_letter: 'Dead letter',
}

/** Each status has its own shape, so that it never depends on colour alone. */
export const statusGlyph: Record<string, string> = {
  pending: '○',
  consolidated: '●',
  failed: '△',
  dead_letter: '✕',
}

/** The faster the decay, the lighter the glyph. None is the glyph for fading. */
export const permanenceGlyph: Record<string, string> = {
  permanent: '◆',
  stable: '◈',
  standard: '◇',
  volatile: '▫',
  ephemeral: '·',
}

export const permanenceDescription: Record<string, string> = {
  permanent: 'never fades',
  stable: 'confidence halves in about a year',
  standard: 'confidence halves in about three months',
  volatile: 'confidence halves in about three weeks',
  ephemeral: 'confidence halves in a week',
}

/** Where a memory comes from, by the source of the API. */
export const sourceLabel: Record<string, string> = {
  person: 'by a person',
  agent: 'by an agent',
  session: 'from a session',
  import: 'from an import',
  untrusted: 'from untrusted text',
}

/** `dead_letter` as `Dead letter`. */
export function capitalized(name: string): string {
  const words = name.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
