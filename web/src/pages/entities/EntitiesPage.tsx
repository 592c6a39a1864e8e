import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'
import { useGet } from '../../api/hooks'
import { useListButler } from '../../api/list-butler'
import { capitalized } from '../../lib/labels'
import { ButlerSelect } from '../../ui/ButlerSelect'
import { NothingFound } from '../../ui/NothingFound'
import { Page } from '../../ui/Page'
import { Results } from '../../ui/Results'
import { SearchField } from '../../ui/SearchField'
import { Select } from '../../ui/Select'
import { Empty } from '../../ui/states'
import { type entities, entitySorts, entityTypes, oneFrom } from '../search'
import { EntityTable } from './EntityTable'

const SIZE = 40

export default function EntitiesPage() {
  const search = useSearch({ from: '/entities' })
  const navigate = useNavigate({ from: '/entities' })
  const change = useCallback(
    (next: ReturnType<typeof entities>) =>
      void navigate({ search: (previous) => ({ ...previous, offset: undefined, ...next }), replace: true }),
    [navigate],
  )
  const setQuery = useCallback((q: string) => change({ q: q || undefined }), [change])
  const shown = useListButler(search.butler, (butler) => change({ butler }))
  const query = {
    q: search.q,
    butler: shown.butler,
    entity_type: search.type,
    sort: search.sort ?? (search.q ? ('best' as const) : undefined),
    limit: SIZE,
    offset: search.offset,
  }
  const list = useGet('/api/memory/entities', { query }, { keepPrevious: true, enabled: shown.ready })
  return (
    <Page title="Entities" lead="The people, places, organizations and other things that facts are about.">
      <div className="mb-4 flex flex-wrap items-center gap-2">
        <SearchField
          label="Search entities"
          placeholder="A name, or what is known"
          value={search.q ?? ''}
          onChange={setQuery}
          className="min-w-0 flex-1 basis-56 sm:max-w-sm"
        />
        <ButlerSelect value={shown.butler} onChange={shown.choose} />
        <Select
          label="Type"
          value={search.type ?? ''}
          options={[['', 'Any type'], ...entityTypes.map((type): [string, string] => [type, capitalized(type)])]}
          onChange={(value) => change({ type: oneFrom(entityTypes, value) })}
        />
      </div>
      <Results
        query={list}
        onMove={(offset) => change({ offset: offset || undefined })}
        empty={
          shown.only ? (
            <NothingFound what="entities" butler={shown.only} />
          ) : (
            <Empty title="No matching entities">
              Agents create entities for the people, places and organizations they learn about.
            </Empty>
          )
        }
      >
        {(rows) => (
          <EntityTable
            entities={rows}
            sort={search.sort}
            onSort={(sort) => change({ sort: oneFrom(entitySorts, sort ?? '') })}
          />
        )}
      </Results>
    </Page>
  )
}
