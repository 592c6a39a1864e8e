import type { StatsView } from '../../api/schema'
import { capitalized, maturityLabel } from '../../lib/labels'
import { maturities, permanences } from '../search'
import { Figure } from './Figure'

/** The totals of facts, rules, episodes and fading memories. */
export function Figures({ stats }: { stats: StatsView }) {
  const { facts, rules, episodes } = stats
  return (
    <div className="grid grid-cols-2 gap-3 xl:grid-cols-4">
      <Figure
        name="Facts by permanence"
        value={facts.known}
        parts={permanences.map((name) => ({ name: capitalized(name), value: facts.by_permanence[name] }))}
      />
      <Figure
        name="Rules by maturity"
        value={rules.known}
        parts={maturities.map((name) => ({ name: maturityLabel[name] ?? name, value: rules.by_maturity[name] }))}
      />
      <Figure
        name="Episodes"
        value={episodes.total}
        parts={[
          { name: 'Pending', value: episodes.unconsolidated },
          { name: 'Consolidated', value: episodes.consolidated },
          { name: 'Failed, will retry', value: episodes.failed },
          { name: 'Dead letters', value: episodes.dead_letter },
        ]}
      />
      <Figure
        name="Fading"
        fading
        value={stats.fading}
        parts={[
          { name: 'Facts', value: facts.fading },
          { name: 'Rules', value: rules.fading },
          { name: 'Expiring within a week', value: facts.expiring_7d },
        ]}
      />
    </div>
  )
}
