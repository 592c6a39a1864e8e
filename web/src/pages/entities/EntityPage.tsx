import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useGet } from '../../api/hooks'
import { useHasRight } from '../../api/rights'
import type { EntityDetailAt } from '../../api/schema'
import { capitalized } from '../../lib/labels'
import { counted } from '../../lib/number'
import type { TimeSearch } from '../../lib/search'
import { EventList } from '../../memory/EventList'
import { Back } from '../../ui/Back'
import { Badge } from '../../ui/Badge'
import { Loaded } from '../../ui/Loaded'
import { Page } from '../../ui/Page'
import { Section } from '../../ui/Section'
import { Failure, Loading } from '../../ui/states'
import { TimeControl, TimeNotice } from '../../ui/TimeControl'
import { Details } from './Details'
import { Duplicates } from './Duplicates'
import { EntityActions } from './EntityActions'
import { FactsByPredicate } from './FactsByPredicate'
import { Mentions } from './Mentions'
import { MergeDialog, type Named } from './MergeDialog'
import { Merges } from './Merges'
import { Relations } from './Relations'

function Related({ related }: Pick<EntityDetailAt, 'related'>) {
  if (related.length === 0) return <p className="text-sm text-muted">No other entity shares an episode with it.</p>
  return (
    <ul className="space-y-1.5">
      {related.map((other) => (
        <li key={other.id} className="flex items-baseline justify-between gap-3">
          <Link to="/entities/$id" params={{ id: other.id }} className="min-w-0 truncate hover:underline">
            {other.canonical_name}
          </Link>
          <span className="figure text-xs whitespace-nowrap text-muted">
            {counted(other.shared_episodes, 'episode')}
          </span>
        </li>
      ))}
    </ul>
  )
}

/** The facts of the chosen time. */
function Facts({ id, time }: { id: string; time: TimeSearch }) {
  const query = useGet('/api/memory/entities/{id}', { path: { id }, query: time }, { keepPrevious: true })
  if (query.isPending) return <Loading rows={2} label="Loading facts" />
  if (query.isError) return <Failure error={query.error} retry={() => void query.refetch()} />
  return (
    <div className={query.isPlaceholderData ? 'opacity-60' : ''} aria-busy={query.isPlaceholderData}>
      <FactsByPredicate entity={query.data.data} past />
    </div>
  )
}

function Knowledge({ entity, time }: { entity: EntityDetailAt; time: TimeSearch }) {
  if (entity.merged_into)
    return (
      <p className="self-start rounded-lg border border-dashed border-line-strong/50 p-4 text-muted">
        ⋈ Merged into{' '}
        <Link to="/entities/$id" params={{ id: entity.merged_into }} className="link">
          {entity.merged_into_name ?? 'another entity'}
        </Link>
        , which now has its facts and names.
      </p>
    )
  return (
    <div className="min-w-0 space-y-8">
      <Section title="Facts">
        {time.valid_at ? <Facts id={entity.id} time={time} /> : <FactsByPredicate entity={entity} />}
      </Section>
      <Section title="Relations">
        <Relations entity={entity} time={time} />
      </Section>
      {!time.valid_at && (
        <Section title="Mentions in episodes">
          <Mentions entity={entity} />
        </Section>
      )}
    </div>
  )
}

function View({ entity }: { entity: EntityDetailAt }) {
  const [merging, setMerging] = useState<{ other?: Named } | null>(null)
  const time = useSearch({ from: '/entities/$id' })
  const navigate = useNavigate({ from: '/entities/$id' })
  const past = time.valid_at !== undefined
  const canWrite = useHasRight('write') && !past
  const facts = entity.predicates.flatMap((group) => group.facts)
  const then = useGet('/api/memory/entities/{id}', { path: { id: entity.id }, query: time }, { enabled: past })
  return (
    <Page
      above={<Back to="/entities">Entities</Back>}
      title={(past && then.data?.data.name_then) || entity.canonical_name}
      lead={
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <Badge>{capitalized(entity.entity_type)}</Badge>
          {entity.merged_into && <Badge>⋈ merged</Badge>}
          {entity.aliases.length > 0 && <span className="break-words">also known as {entity.aliases.join(', ')}</span>}
        </span>
      }
      actions={<EntityActions entity={entity} time={time} onMerge={() => setMerging({})} />}
    >
      {!entity.merged_into && (
        <>
          <TimeControl
            time={time}
            dates={[entity.created_at, ...facts.flatMap((fact) => [fact.valid_from, fact.valid_to, fact.created_at])]}
            onChange={(next) => void navigate({ search: next, replace: true, resetScroll: false })}
          />
          <TimeNotice time={time}>Facts and relations of that day. Editing is off.</TimeNotice>
        </>
      )}
      <div className="grid gap-x-10 gap-y-8 lg:grid-cols-[minmax(0,1fr)_18rem]">
        <Knowledge entity={entity} time={time} />
        <div className="min-w-0 space-y-8">
          {entity.duplicates.length > 0 && !entity.merged_into && (
            <Section title="Likely duplicates" quiet>
              <Duplicates
                duplicates={entity.duplicates}
                onMerge={canWrite ? (other) => setMerging({ other }) : undefined}
              />
            </Section>
          )}
          <Section title="Related entities" quiet>
            <Related related={entity.related} />
          </Section>
          {entity.merges.length > 0 && (
            <Section title="Merged into it" quiet>
              <Merges merges={entity.merges} canWrite={canWrite} />
            </Section>
          )}
          {entity.events.length > 0 && (
            <Section title="History" quiet>
              <EventList events={entity.events} look="own" />
            </Section>
          )}
          <Section title="Details" quiet>
            <Details entity={entity} />
          </Section>
        </div>
      </div>
      {merging && !past && <MergeDialog entity={entity} {...merging} onClose={() => setMerging(null)} />}
    </Page>
  )
}

export default function EntityPage() {
  const { id } = useParams({ from: '/entities/$id' })
  const query = useGet('/api/memory/entities/{id}', { path: { id } })
  return (
    <Loaded query={query} label="the entity">
      {(answer) => <View key={answer.data.id} entity={answer.data} />}
    </Loaded>
  )
}
