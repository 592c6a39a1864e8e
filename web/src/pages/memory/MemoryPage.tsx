import { useGet } from '../../api/hooks'
import { Page } from '../../ui/Page'
import { Section } from '../../ui/Section'
import { Failure, Loading } from '../../ui/states'
import { Unavailable } from '../../ui/Unavailable'
import { Activity } from './Activity'
import { Attention } from './Attention'
import { Browser } from './Browser'
import { Figures } from './Figures'
import { GettingStarted } from './GettingStarted'
import { Health } from './Health'
import { Pipeline } from './Pipeline'
import { Summary } from './Summary'

export default function MemoryPage() {
  const stats = useGet('/api/memory/stats')
  if (!stats.data) {
    return (
      <Page title="Memory">
        {stats.isError ? (
          <Failure error={stats.error} retry={() => void stats.refetch()} />
        ) : (
          <Loading rows={8} label="Loading memory" />
        )}
      </Page>
    )
  }
  const { data, meta } = stats.data
  const waiting = data.episodes.unconsolidated + data.episodes.failed
  const never = data.facts.total + data.rules.total + data.episodes.total === 0
  return (
    <Page title="Memory">
      <Unavailable butlers={meta.unavailable} />
      {never ? (
        <GettingStarted />
      ) : (
        <div className="space-y-10">
          <div className="space-y-6">
            <Summary
              facts={data.facts.known}
              rules={data.rules.known}
              episodes={data.episodes.total}
              fading={data.fading}
              waiting={waiting}
            />
            <Pipeline pipeline={data.pipeline} />
            <Figures stats={data} />
            <Attention items={data.attention} />
          </div>
          <div className="grid gap-x-10 gap-y-10 xl:grid-cols-[minmax(0,1fr)_20rem]">
            <Browser counts={{ facts: data.facts.known, rules: data.rules.known, episodes: data.episodes.total }} />
            <Activity />
          </div>
          <Section title="Health">
            <Health
              confidence={data.confidence.facts.map((value, index) => value + (data.confidence.rules[index] ?? 0))}
              thresholds={{ retrieval: data.confidence.retrieval_threshold, expiry: data.confidence.expiry_threshold }}
              backlog={data.backlog}
              failure={data.pipeline.last_run_status === 'failed' ? data.pipeline.last_run_error : null}
              maturity={data.rules.by_maturity}
              effectiveness={data.effectiveness}
            />
          </Section>
        </div>
      )}
    </Page>
  )
}
