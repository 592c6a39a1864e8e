import { count, counted } from '../../lib/number'

interface Props {
  facts: number
  rules: number
  episodes: number
  fading: number
  waiting: number
}

/** The state of the memory in one sentence. */
export function Summary({ facts, rules, episodes, fading, waiting }: Props) {
  return (
    <p className="max-w-3xl font-serif text-2xl text-balance">
      {counted(facts, 'fact')} and {counted(rules, 'rule')} in memory
      {episodes > 0 && <>, plus {counted(episodes, 'recent episode')}</>}.{' '}
      {fading > 0 ? (
        <span className="text-fading italic underline decoration-dashed decoration-1 underline-offset-4">
          {count(fading)} {fading === 1 ? 'is' : 'are'} fading
        </span>
      ) : (
        'Nothing is fading'
      )}
      {waiting > 0 ? (
        <>
          {' '}
          and {counted(waiting, 'episode')} {waiting === 1 ? 'is' : 'are'} waiting for consolidation.
        </>
      ) : (
        <>, and no episodes are waiting for consolidation.</>
      )}
    </p>
  )
}
