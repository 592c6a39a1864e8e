/** Words that stand for the server's names. */
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

/** Never colour alone: each status has a shape of its own. */
export const statusGlyph: Record<string, string> = {
  pending: '○',
  consolidated: '●',
  failed: '△',
  dead_letter: '✕',
}

/** Lighter the sooner it goes; none is the glyph of fading. */
export const permanenceGlyph: Record<string, string> = {
  permanent: '◆',
  stable: '◈',
  standard: '◇',
  volatile: '▫',
  ephemeral: '·',
}

export const permanenceDescription: Record<string, string> = {
  permanent: 'never fades',
  stable: 'loses half in about a year',
  standard: 'loses half in about three months',
  volatile: 'loses half in about three weeks',
  ephemeral: 'loses half in a week',
}

export function capitalized(name: string): string {
  const words = name.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
