import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'
import { useGet } from '../../api/hooks'
import { useListButler } from '../../api/list-butler'
import { statusLabel } from '../../lib/labels'
import { EpisodeList } from '../../memory/EpisodeList'
import { ButlerSelect } from '../../ui/ButlerSelect'
import { Button } from '../../ui/Button'
import { DateField } from '../../ui/DateField'
import { NothingFound } from '../../ui/NothingFound'
import { Page } from '../../ui/Page'
import { Results } from '../../ui/Results'
import { SearchField } from '../../ui/SearchField'
import { Select } from '../../ui/Select'
import { Empty } from '../../ui/states'
import { type episodes, oneFrom, statuses } from '../search'

const SIZE = 40

export default function EpisodesPage() {
  const search = useSearch({ from: '/memory/episodes' })
  const navigate = useNavigate({ from: '/memory/episodes' })
  const change = useCallback(
    (next: ReturnType<typeof episodes>) =>
      void navigate({ search: (previous) => ({ ...previous, offset: undefined, ...next }), replace: true }),
    [navigate],
  )
  const setQuery = useCallback((q: string) => change({ q: q || undefined }), [change])
  const shown = useListButler(search.butler, (butler) => change({ butler }))
  const query = {
    q: search.q,
    sort: search.q ? ('best' as const) : undefined,
    butler: shown.butler,
    status: search.status,
    from: search.from,
    to: search.to,
    limit: SIZE,
    offset: search.offset,
  }
  const list = useGet('/api/memory/episodes', { query }, { keepPrevious: true, enabled: shown.ready })
  const filtered = search.q ?? search.butler ?? search.status ?? search.from ?? search.to
  return (
    <Page title="Episodes" lead="What happened, by day. Episodes expire; the facts and rules learned from them stay.">
      <div className="mb-5 grid grid-cols-2 items-center gap-2 sm:flex sm:flex-wrap">
        <SearchField
          label="Search episodes"
          placeholder="Search by words or meaning"
          value={search.q ?? ''}
          onChange={setQuery}
          className="col-span-2 min-w-0 sm:flex-1 sm:basis-56"
        />
        <ButlerSelect value={shown.butler} onChange={shown.choose} />
        <Select
          label="Status"
          value={search.status ?? ''}
          options={[['', 'Any status'], ...statuses.map((name): [string, string] => [name, statusLabel[name] ?? name])]}
          onChange={(value) => change({ status: oneFrom(statuses, value) })}
        />
        <span className="col-span-2 grid grid-cols-2 gap-2 sm:inline-flex">
          <DateField label="From" value={search.from} onChange={(from) => change({ from })} />
          <DateField label="To" value={search.to} onChange={(to) => change({ to })} />
        </span>
        {filtered && (
          <Button
            variant="ghost"
            onClick={() =>
              change({ q: undefined, butler: undefined, status: undefined, from: undefined, to: undefined })
            }
          >
            Clear filters
          </Button>
        )}
      </div>
      <Results
        query={list}
        onMove={(offset) => change({ offset: offset || undefined })}
        empty={
          filtered || shown.only ? (
            <NothingFound what="episodes" butler={shown.only} />
          ) : (
            <Empty title="No episodes">
              An agent stores an episode at the end of a session. Episodes expire after some days.
            </Empty>
          )
        }
      >
        {(rows) => <EpisodeList episodes={rows} level="h2" />}
      </Results>
    </Page>
  )
}
