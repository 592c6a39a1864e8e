import { maturityLabel } from '../../lib/labels'

/** What the rule needs for its next maturity level. `requirement` is the server's phrase. */
export function describeNextLevel(maturity: string, requirement: string | null | undefined): string {
  if (requirement) return `${requirement.charAt(0).toUpperCase()}${requirement.slice(1)}.`
  if (maturity === 'anti_pattern') return 'It was harmful repeatedly, so it is a warning now and cannot be promoted.'
  return [
    `${maturityLabel[maturity] ?? maturity} is the highest level.`,
    'The rule is demoted when its effectiveness drops too low, and becomes a candidate again when it is edited.',
  ].join(' ')
}
