/** How many memories were not stored, by the reason. */
export interface SuppressedBy {
  forgotten?: number
  paraphrased?: number
  erased?: number
  rejected?: number
  untrusted?: number
  repeated?: number
}

const reasons: [cause: keyof SuppressedBy, label: string][] = [
  ['forgotten', 'forgotten before'],
  ['paraphrased', 'forgotten before in other words'],
  ['erased', 'erased before'],
  ['rejected', 'rejected by a person'],
  ['untrusted', 'from untrusted text'],
  ['repeated', 'known already'],
]

/** Why memories were not stored, with the number of each reason: `2 forgotten before, 1 erased before`. */
export function suppressedReasons(by: SuppressedBy = {}): string {
  return reasons
    .filter(([cause]) => by[cause])
    .map(([cause, label]) => `${by[cause]?.toLocaleString('en')} ${label}`)
    .join(', ')
}
