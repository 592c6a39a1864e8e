import { useGet } from '../../api/hooks'
import { FactList } from '../../memory/FactList'
import { Results } from '../../ui/Results'
import { Empty } from '../../ui/states'
import { factSorts, oneFrom } from '../search'
import type { Change, MemorySearch } from './Browser'

const SIZE = 12

export function FactResults({ search, change }: { search: MemorySearch; change: Change }) {
  const query = {
    q: search.q,
    butler: search.butler,
    scope: search.scope,
    validity: search.validity,
    permanence: search.permanence,
    min_confidence: search.min,
    sort: oneFrom(factSorts, search.sort ?? ''),
    limit: SIZE,
    offset: search.offset,
  }
  const facts = useGet('/api/memory/facts', { query }, { keepPrevious: true })
  return (
    <Results
      hideUnavailable
      query={facts}
      onMove={(offset) => change({ offset: offset || undefined })}
      empty={<Empty title="No matching facts">Try other search terms or fewer filters.</Empty>}
    >
      {(rows) => <FactList facts={rows} />}
    </Results>
  )
}
