import { maturityLabel } from '../../lib/labels'

/** What the rule lacks for its next level; the server counts, this makes it a sentence. */
export function describeNextLevel(maturity: string, words: string | null | undefined): string {
  if (words) return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`
  if (maturity === 'anti_pattern') return 'It did harm repeatedly, so it stands as a warning and rises no more.'
  return `${maturityLabel[maturity] ?? maturity} is the highest level. A harmful mark takes it away if too little effectiveness is left; so does editing the rule.`
}
