import { Link, useParams } from '@tanstack/react-router'
import { useGet } from '../../api/hooks'
import type { EpisodeDetailAt as EpisodeDetail } from '../../api/schema'
import { counted } from '../../lib/number'
import { dateTime } from '../../lib/time'
import { SourceBadge, StatusBadge } from '../../memory/badges'
import { EventList } from '../../memory/EventList'
import { Provenance } from '../../memory/Provenance'
import { Back } from '../../ui/Back'
import { Badge } from '../../ui/Badge'
import { Id } from '../../ui/Id'
import { Loaded } from '../../ui/Loaded'
import { Page } from '../../ui/Page'
import { Properties } from '../../ui/Properties'
import { Section } from '../../ui/Section'
import { Time } from '../../ui/Time'
import { RequeueButton } from './RequeueButton'

function View({ episode }: { episode: EpisodeDetail }) {
  return (
    <Page
      above={<Back to="/memory/episodes">Episodes</Back>}
      title={`Episode of ${dateTime(episode.created_at)}`}
      lead={
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <StatusBadge status={episode.consolidation_status} />
          <SourceBadge source={episode.source} />
          <span>{episode.butler}</span>
          {episode.expired && <Badge>✕ expired</Badge>}
        </span>
      }
      actions={episode.consolidation_status === 'dead_letter' && <RequeueButton id={episode.id} home={episode.home} />}
    >
      <div className="grid gap-x-10 gap-y-8 lg:grid-cols-[minmax(0,1fr)_18rem]">
        <div className="min-w-0 space-y-8">
          <p className="memory-text card p-4 text-lg sm:p-6">{episode.content}</p>
          {episode.last_error && (
            <Section title="Last consolidation error">
              <p className="rounded-lg border border-harm/40 bg-harm-wash p-4 break-words">
                <span className="font-medium text-harm">
                  △ {episode.retry_count} {episode.retry_count === 1 ? 'attempt' : 'attempts'}.
                </span>{' '}
                {episode.last_error}
              </p>
            </Section>
          )}
          <Section title="Learned from it">
            <div className="card p-4 sm:p-5">
              {episode.links.length > 0 ? (
                <Provenance kind="episode" label={episode.content} links={episode.links} />
              ) : (
                <p className="text-muted">
                  {episode.consolidation_status === 'consolidated'
                    ? 'Consolidation found nothing worth keeping.'
                    : episode.consolidation_status === 'dead_letter'
                      ? 'Nothing: consolidation failed too often, so the episode is a dead letter.'
                      : 'Nothing yet: the episode is not consolidated.'}
                </p>
              )}
            </div>
          </Section>
        </div>
        <div className="min-w-0 space-y-8">
          <Section title="Details" quiet>
            <Properties
              rows={[
                ['Created', <Time key="h" at={episode.created_at} how="full" />],
                ['Expires', episode.expires_at ? <Time key="e" at={episode.expires_at} /> : 'never'],
                ['Importance', `${episode.importance} of 10`],
                ['Read', counted(episode.reference_count, 'time')],
                [
                  'Session',
                  episode.session_id ? (
                    <Link key="s" to="/memory/sessions/$id" params={{ id: episode.session_id }} className="link">
                      <Id>{episode.session_id}</Id>
                    </Link>
                  ) : (
                    'none'
                  ),
                ],
                ...(episode.next_consolidation_retry_at
                  ? [
                      [
                        'Next attempt',
                        Date.parse(episode.next_consolidation_retry_at) < Date.now() ? (
                          'at the next run'
                        ) : (
                          <Time key="n" at={episode.next_consolidation_retry_at} />
                        ),
                      ] as [string, React.ReactNode],
                    ]
                  : []),
                ['Id', <Id key="id">{episode.id}</Id>],
              ]}
            />
          </Section>
          {episode.events.length > 0 && (
            <Section title="Events" quiet>
              <EventList events={episode.events} look="own" />
            </Section>
          )}
        </div>
      </div>
    </Page>
  )
}

export default function EpisodePage() {
  const { id } = useParams({ from: '/memory/episodes/$id' })
  const query = useGet('/api/memory/episodes/{id}', { path: { id } })
  return (
    <Loaded query={query} label="the episode">
      {(answer) => <View key={answer.data.id} episode={answer.data} />}
    </Loaded>
  )
}
