import { useGet } from '../../api/hooks'
import { RuleList } from '../../memory/RuleList'
import { Results } from '../../ui/Results'
import { Empty } from '../../ui/states'
import { oneFrom, ruleSorts } from '../search'
import type { Change, MemorySearch } from './Browser'

const SIZE = 12

export function RuleResults({ search, change }: { search: MemorySearch; change: Change }) {
  const query = {
    q: search.q,
    butler: search.butler,
    scope: search.scope,
    maturity: search.maturity,
    sort: oneFrom(ruleSorts, search.sort ?? '') ?? 'maturity',
    limit: SIZE,
    offset: search.offset,
  }
  const rules = useGet('/api/memory/rules', { query }, { keepPrevious: true })
  return (
    <Results
      hideUnavailable
      query={rules}
      onMove={(offset) => change({ offset: offset || undefined })}
      empty={<Empty title="No matching rules">Try other search terms or fewer filters.</Empty>}
    >
      {(rows) => <RuleList rules={rows} />}
    </Results>
  )
}
