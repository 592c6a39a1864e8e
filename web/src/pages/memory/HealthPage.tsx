import { useNavigate, useSearch } from '@tanstack/react-router'
import { useGet } from '../../api/hooks'
import { useListButler } from '../../api/list-butler'
import { Back } from '../../ui/Back'
import { ButlerSelect } from '../../ui/ButlerSelect'
import { Page } from '../../ui/Page'
import { Failure, Loading } from '../../ui/states'
import { Unavailable } from '../../ui/Unavailable'
import { Activity } from './Activity'
import { Figures } from './Figures'
import { Health } from './Health'
import { Pipeline } from './Pipeline'

/** The figures behind the overview: the pipeline, the totals and their distributions. */
export default function HealthPage() {
  const { butler: named } = useSearch({ from: '/memory/health' })
  const navigate = useNavigate({ from: '/memory/health' })
  const { ready, butler, many, choose } = useListButler(
    named,
    (next) => void navigate({ search: { butler: next }, replace: true }),
  )
  const stats = useGet('/api/memory/stats', { query: { butler } }, { enabled: ready })
  const head = {
    title: 'Health',
    above: <Back to="/memory">Overview</Back>,
    actions: many ? <ButlerSelect value={butler} onChange={choose} /> : undefined,
  }
  if (!stats.data) {
    return (
      <Page {...head}>
        {stats.isError ? (
          <Failure error={stats.error} retry={() => void stats.refetch()} />
        ) : (
          <Loading rows={8} label="Loading figures" />
        )}
      </Page>
    )
  }
  const { data, meta } = stats.data
  return (
    <Page {...head}>
      <Unavailable butlers={meta.unavailable} />
      <div className="space-y-6">
        <Pipeline pipeline={data.pipeline} />
        <Figures stats={data} />
        <div className="grid gap-10 xl:grid-cols-[minmax(0,1fr)_20rem]">
          <Health
            confidence={data.confidence.facts.map((value, index) => value + (data.confidence.rules[index] ?? 0))}
            thresholds={{ retrieval: data.confidence.retrieval_threshold, expiry: data.confidence.expiry_threshold }}
            backlog={data.backlog}
            failure={data.pipeline.last_run_status === 'failed' ? data.pipeline.last_run_error : null}
            maturity={data.rules.by_maturity}
            effectiveness={data.effectiveness}
          />
          <Activity butler={butler} />
        </div>
      </div>
    </Page>
  )
}
