import { useGet } from '../../api/hooks'
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
  const stats = useGet('/api/memory/stats')
  if (!stats.data) {
    return (
      <Page title="Overview">
        {stats.isError ? (
          <Failure error={stats.error} retry={() => void stats.refetch()} />
        ) : (
          <Loading rows={8} label="Loading overview" />
        )}
      </Page>
    )
  }
  const { data, meta } = stats.data
  const never = data.facts.total + data.rules.total + data.episodes.total === 0
  return (
    <Page title="Overview">
      <Unavailable butlers={meta.unavailable} />
      {never ? (
        <GettingStarted />
      ) : (
        <div className="space-y-3">
          <Week />
          <div className="grid gap-6 lg:grid-cols-2">
            <Attention items={data.attention} />
            <AgentActivity />
          </div>
          <Totals stats={data} />
        </div>
      )}
    </Page>
  )
}
