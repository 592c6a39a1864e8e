import { Link } from '@tanstack/react-router'
import type { Pipeline as State } from '../../api/schema'
import { count } from '../../lib/number'
import { Time } from '../../ui/Time'

function Stage({
  value,
  name,
  to,
}: {
  value: number
  name: string
  to?: 'pending' | 'consolidated' | 'failed' | 'dead_letter'
}) {
  const body = (
    <>
      <strong className="figure font-semibold text-ink">{count(value)}</strong> {name}
    </>
  )
  return to ? (
    <Link to="/memory/episodes" search={{ status: to }} className="hover:underline">
      {body}
    </Link>
  ) : (
    <span>{body}</span>
  )
}

const Arrow = () => (
  <span aria-hidden="true" className="text-line-strong">
    →
  </span>
)

/** The consolidation pipeline in one line: from episodes to facts and rules. */
export function Pipeline({ pipeline }: { pipeline: State }) {
  const { pending, consolidated, failed, dead_letters: dead, last_run_at: last, next_run_at: next } = pipeline
  return (
    <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1.5 text-sm text-muted">
      <Stage value={pending} name="pending" to="pending" />
      <Arrow />
      <Stage value={consolidated} name="consolidated" to="consolidated" />
      <Arrow />
      <span>
        <Stage value={pipeline.facts_produced} name="facts" /> and{' '}
        <Stage value={pipeline.rules_produced} name="rules" /> learned
      </span>
      {failed > 0 && (
        <span className="text-harm">
          △ <Stage value={failed} name="failed" to="failed" />
        </span>
      )}
      {dead > 0 && (
        <span className="text-harm">
          ✕ <Stage value={dead} name="dead letters" to="dead_letter" />
        </span>
      )}
      <span className="sm:ml-auto">
        {pipeline.last_run_status === 'failed' ? <span className="text-harm">✕ last run failed </span> : 'last run '}
        {last ? <Time at={last} /> : 'never'} ·{' '}
        {next ? (
          <>
            next <Time at={next} />
          </>
        ) : (
          'no run scheduled'
        )}
        {!pipeline.runtime_configured && ' · no LLM configured'}
      </span>
    </div>
  )
}
