import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useGet } from '../../api/hooks'
import { useHasRight } from '../../api/rights'
import type { EntityDetailAt as EntityDetail } from '../../api/schema'
import { capitalized } from '../../lib/labels'
import { counted } from '../../lib/number'
import { EventList } from '../../memory/EventList'
import { Back } from '../../ui/Back'
import { Badge } from '../../ui/Badge'
import { Button } from '../../ui/Button'
import { Icon } from '../../ui/Icon'
import { Loaded } from '../../ui/Loaded'
import { Page } from '../../ui/Page'
import { Section } from '../../ui/Section'
import { FactsByPredicate } from './FactsByPredicate'
import { MergeDialog } from './MergeDialog'

function View({ entity }: { entity: EntityDetail }) {
  const [merging, setMerging] = useState(false)
  const canWrite = useHasRight('write')
  return (
    <Page
      above={<Back to="/entities">Entities</Back>}
      title={entity.canonical_name}
      lead={
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <Badge>{capitalized(entity.entity_type)}</Badge>
          {entity.merged_into && <Badge>⋈ merged</Badge>}
          {entity.aliases.length > 0 && <span className="break-words">also known as {entity.aliases.join(', ')}</span>}
        </span>
      }
      actions={
        !entity.merged_into &&
        canWrite && (
          <Button onClick={() => setMerging(true)}>
            <Icon name="merge" /> Merge
          </Button>
        )
      }
    >
      <div className="grid gap-x-10 gap-y-8 lg:grid-cols-[minmax(0,1fr)_18rem]">
        {entity.merged_into ? (
          <p className="self-start rounded-lg border border-dashed border-line-strong/50 p-4 text-muted">
            ⋈ Merged into{' '}
            <Link to="/entities/$id" params={{ id: entity.merged_into }} className="link">
              {entity.merged_into_name ?? 'another entity'}
            </Link>
            , which now has its facts and names.
          </p>
        ) : (
          <Section title="Facts">
            <FactsByPredicate entity={entity} />
          </Section>
        )}
        <div className="min-w-0 space-y-8">
          <Section title="Related entities" quiet>
            {entity.related.length > 0 ? (
              <ul className="space-y-1.5">
                {entity.related.map((related) => (
                  <li key={related.id} className="flex items-baseline justify-between gap-3">
                    <Link to="/entities/$id" params={{ id: related.id }} className="min-w-0 truncate hover:underline">
                      {related.canonical_name}
                    </Link>
                    <span className="figure text-xs whitespace-nowrap text-muted">
                      {counted(related.shared_episodes, 'episode')}
                    </span>
                  </li>
                ))}
              </ul>
            ) : (
              <p className="text-sm text-muted">No other entity shares an episode with it.</p>
            )}
          </Section>
          {entity.events.length > 0 && (
            <Section title="Events" quiet>
              <EventList events={entity.events} look="own" />
            </Section>
          )}
        </div>
      </div>
      {merging && <MergeDialog entity={entity} onClose={() => setMerging(false)} />}
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
