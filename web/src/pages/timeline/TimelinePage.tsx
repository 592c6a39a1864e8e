import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'
import { useGet } from '../../api/hooks'
import { useListButler } from '../../api/list-butler'
import { capitalized } from '../../lib/labels'
import { EventList } from '../../memory/EventList'
import { eventLabel, eventTypes } from '../../memory/events'
import { ButlerSelect } from '../../ui/ButlerSelect'
import { Button } from '../../ui/Button'
import { DateField } from '../../ui/DateField'
import { NothingFound } from '../../ui/NothingFound'
import { Page } from '../../ui/Page'
import { Results } from '../../ui/Results'
import { Select } from '../../ui/Select'
import { Empty } from '../../ui/states'
import { eventKinds, oneFrom, type timeline } from '../search'

const SIZE = 50

export default function TimelinePage() {
  const search = useSearch({ from: '/timeline' })
  const navigate = useNavigate({ from: '/timeline' })
  const change = useCallback(
    (next: ReturnType<typeof timeline>) =>
      void navigate({ search: (previous) => ({ ...previous, offset: undefined, ...next }), replace: true }),
    [navigate],
  )
  const shown = useListButler(search.butler, (butler) => change({ butler }))
  const query = {
    kind: search.kind,
    type: search.event,
    butler: shown.butler,
    from: search.from,
    to: search.to,
    limit: SIZE,
    offset: search.offset,
  }
  const list = useGet('/api/timeline', { query }, { keepPrevious: true, enabled: shown.ready })
  const types = eventTypes.filter((type) => !search.kind || type.startsWith(search.kind))
  const filtered = search.kind ?? search.event ?? search.butler ?? search.from ?? search.to
  return (
    <Page title="Timeline" lead="Every change to memory, newest first. Housekeeping events are dimmed.">
      <div className="mb-5 grid grid-cols-2 items-center gap-2 sm:flex sm:flex-wrap">
        <Select
          label="Kind"
          value={search.kind ?? ''}
          options={[
            ['', 'All kinds'],
            ...eventKinds.map((kind): [string, string] => [
              kind,
              capitalized(kind === 'entity' ? 'entities' : `${kind}s`),
            ]),
          ]}
          onChange={(value) => change({ kind: oneFrom(eventKinds, value), event: undefined })}
        />
        <Select
          label="Event"
          value={search.event ?? ''}
          options={[
            ['', 'Any event'],
            ...types.map((type): [string, string] => [type, eventLabel(type)[1] ?? capitalized(type)]),
          ]}
          onChange={(value) => change({ event: value || undefined })}
        />
        <ButlerSelect value={shown.butler} onChange={shown.choose} />
        <span className="col-span-2 grid grid-cols-2 gap-2 sm:inline-flex">
          <DateField label="From" value={search.from} onChange={(from) => change({ from })} />
          <DateField label="To" value={search.to} onChange={(to) => change({ to })} />
        </span>
        {filtered && (
          <Button
            variant="ghost"
            onClick={() =>
              change({ kind: undefined, event: undefined, butler: undefined, from: undefined, to: undefined })
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
          shown.only ? (
            <NothingFound what="events" butler={shown.only} />
          ) : (
            <Empty title="No events">No event matches these filters.</Empty>
          )
        }
      >
        {(rows) => <EventList events={rows} look="full" level="h2" />}
      </Results>
    </Page>
  )
}
