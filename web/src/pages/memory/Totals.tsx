import { Link } from '@tanstack/react-router'
import type { StatsView } from '../../api/schema'
import { count } from '../../lib/number'

const item = 'card flex items-baseline gap-2 px-3 py-1.5 text-sm text-muted hover:border-line-strong hover:text-ink'

function Figure({ value }: { value: number }) {
  return <strong className="figure text-lg font-semibold text-ink">{count(value)}</strong>
}

/** How much is known. Each number leads to its list. */
export function Totals({ stats, butler }: { stats: StatsView; butler: string | undefined }) {
  const { facts, rules, episodes, entities } = stats
  return (
    <nav aria-label="Totals" className="flex flex-wrap gap-2">
      <Link to="/facts" search={{ butler }} className={item}>
        <Figure value={facts.known} /> facts
      </Link>
      <Link to="/rules" search={{ butler }} className={item}>
        <Figure value={rules.known} /> rules
      </Link>
      <Link to="/facts" search={{ butler, validity: 'fading', sort: 'least_confident' }} className={item}>
        <Figure value={facts.fading} /> fading facts
      </Link>
      <Link to="/rules" search={{ butler, state: 'fading' }} className={item}>
        <Figure value={rules.fading} /> fading rules
      </Link>
      <Link to="/memory/episodes" search={{ butler }} className={item}>
        <Figure value={episodes.total} /> episodes
      </Link>
      <Link to="/memory/episodes" search={{ butler, status: 'pending' }} className={item}>
        <Figure value={episodes.unconsolidated} /> waiting
      </Link>
      <Link to="/entities" search={{ butler }} className={item}>
        <Figure value={entities} /> entities
      </Link>
      <Link to="/memory/health" search={{ butler }} className={item}>
        More figures
      </Link>
    </nav>
  )
}
