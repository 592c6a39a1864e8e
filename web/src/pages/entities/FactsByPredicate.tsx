import { useGet } from '../../api/hooks'
import { sentence } from '../../lib/words'
import { FactList } from '../../memory/FactList'
import type { FactRow } from '../../memory/types'
import { Results } from '../../ui/Results'
import { Empty } from '../../ui/states'
import { useState } from 'react'

const SIZE = 60

export function FactsByPredicate({ id }: { id: string }) {
  const [offset, setOffset] = useState(0)
  const facts = useGet('/api/memory/facts', { query: { entity_id: id, limit: SIZE, offset } }, { keep: true })
  return (
    <Results query={facts} onMove={setOffset} empty={<Empty title="Nothing is known about it now">Its facts expired, were forgotten, or never came.</Empty>}>
      {(rows) => {
        const groups = new Map<string, FactRow[]>()
        for (const fact of rows) groups.set(fact.predicate, [...(groups.get(fact.predicate) ?? []), fact])
        return (
          <div className="space-y-5">
            {[...groups].map(([predicate, list]) => (
              <section key={predicate} aria-label={sentence(predicate)}>
                <h3 className="mb-2 text-sm font-medium text-muted">{sentence(predicate)}</h3>
                <FactList facts={list} label={sentence(predicate)} />
              </section>
            ))}
          </div>
        )
      }}
    </Results>
  )
}
