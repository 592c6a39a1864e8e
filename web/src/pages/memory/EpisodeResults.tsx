import { useGet } from '../../api/hooks'
import { EpisodeList } from '../../memory/EpisodeList'
import { Results } from '../../ui/Results'
import { Empty } from '../../ui/states'
import type { Change, MemorySearch } from './Browser'

const SIZE = 12

export function EpisodeResults({ search, change }: { search: MemorySearch; change: Change }) {
  const query = { q: search.q, butler: search.butler, status: search.status, limit: SIZE, offset: search.offset }
  const episodes = useGet('/api/memory/episodes', { query }, { keepPrevious: true })
  return (
    <Results
      hideUnavailable
      query={episodes}
      onMove={(offset) => change({ offset: offset || undefined })}
      empty={<Empty title="No matching episodes">Episodes expire; the facts and rules learned from them stay.</Empty>}
    >
      {(rows) => <EpisodeList episodes={rows} />}
    </Results>
  )
}
