import { Link } from '@tanstack/react-router'
import type { EntityDetailAt } from '../../api/schema'
import { capitalized } from '../../lib/labels'
import { counted } from '../../lib/number'
import { FactList } from '../../memory/FactList'
import { Empty } from '../../ui/states'

type Props = Pick<EntityDetailAt, 'predicates' | 'facts_total' | 'past_facts_total' | 'canonical_name'>

/** `past` shows the facts of another time than now. */
export function FactsByPredicate({ entity, past = false }: { entity: Props; past?: boolean }) {
  const { predicates, facts_total, past_facts_total } = entity
  const shown = predicates.reduce((sum, group) => sum + group.facts.length, 0)
  if (shown === 0 && past) return <Empty title="No facts for that day">Nothing is known to have been true then.</Empty>
  if (shown === 0)
    return (
      <Empty title="No active facts">
        {past_facts_total > 0
          ? `${counted(past_facts_total, 'fact')} superseded, expired or retracted.`
          : 'No fact refers to this entity yet.'}
      </Empty>
    )
  return (
    <div className="space-y-4">
      {predicates.map(({ predicate, facts }) => (
        <section key={predicate} aria-label={capitalized(predicate)}>
          <h3 className="mb-1 text-sm font-medium text-muted">{capitalized(predicate)}</h3>
          <FactList facts={facts} label={capitalized(predicate)} bare past={past} />
        </section>
      ))}
      <p className="text-sm text-muted">
        {shown < facts_total && `${counted(facts_total - shown, 'more fact')} not shown. `}
        {past_facts_total > 0 && !past && (
          <>
            {counted(past_facts_total, 'fact')} superseded, expired or retracted:{' '}
            <Link to="/facts" search={{ q: entity.canonical_name, validity: 'all' }} className="link">
              show all facts
            </Link>
            .
          </>
        )}
      </p>
    </div>
  )
}
