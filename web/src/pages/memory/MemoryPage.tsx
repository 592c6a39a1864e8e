import { useEffect } from 'react'
import { useGet } from '../../api/hooks'
import { useOverviewButler } from '../../api/overview-butler'
import type { StatsView } from '../../api/schema'
import { chooseButler } from '../../lib/chosenButler'
import { setOnboarding, useOnboarding } from '../../lib/onboarding'
import { ButlerSelect } from '../../ui/ButlerSelect'
import { Page } from '../../ui/Page'
import { Failure, Loading } from '../../ui/states'
import { Unavailable } from '../../ui/Unavailable'
import { AgentActivity } from './AgentActivity'
import { Attention } from './Attention'
import { GettingStarted } from './GettingStarted'
import { Totals } from './Totals'
import { Week } from './Week'

/** The overview: this week, what needs attention, and what agents are given. */
export default function MemoryPage() {
  const { ready, butler, many } = useOverviewButler()
  const stats = useGet('/api/memory/stats', { query: { butler } }, { enabled: ready, keepPrevious: true })
  return (
    <Page title="Overview" actions={many ? <ButlerSelect value={butler} onChange={chooseButler} /> : undefined}>
      {stats.data ? (
        <>
          <Unavailable butlers={stats.data.meta.unavailable} />
          <Overview stats={stats.data.data} butler={butler} />
        </>
      ) : stats.isError ? (
        <Failure error={stats.error} retry={() => void stats.refetch()} />
      ) : (
        <Loading rows={8} label="Loading overview" />
      )}
    </Page>
  )
}

function Overview({ stats, butler }: { stats: StatsView; butler: string | undefined }) {
  const tenant = useGet('/api/server').data?.data.tenant
  const stage = useOnboarding(tenant ?? '')
  // of many butlers the chosen one may be empty while others are in use
  const empty = !butler && stats.facts.total + stats.rules.total + stats.episodes.total === 0
  useEffect(() => {
    if (tenant && empty && stage === null) setOnboarding(tenant, 'open')
  }, [tenant, empty, stage])
  const onboarding = tenant !== undefined && stage === 'open'
  return (
    <div className="space-y-3">
      {onboarding && <GettingStarted empty={empty} onClose={() => setOnboarding(tenant, 'closed')} />}
      {!(onboarding && empty) && (
        <>
          <Week butler={butler} />
          <div className="grid gap-6 lg:grid-cols-2">
            <Attention items={stats.attention} butler={butler} />
            <AgentActivity butler={butler} />
          </div>
          <Totals stats={stats} butler={butler} />
        </>
      )}
    </div>
  )
}
