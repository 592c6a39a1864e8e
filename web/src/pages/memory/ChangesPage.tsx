import { useNavigate, useSearch } from '@tanstack/react-router'
import { useGet } from '../../api/hooks'
import { useListButler } from '../../api/list-butler'
import { groupBy } from '../../lib/group'
import { capitalized } from '../../lib/labels'
import { counted } from '../../lib/number'
import { dayName } from '../../lib/time'
import { Back } from '../../ui/Back'
import { ButlerSelect } from '../../ui/ButlerSelect'
import { Page } from '../../ui/Page'
import { Segments } from '../../ui/Segments'
import { Empty, Failure, Loading } from '../../ui/states'
import { Unavailable } from '../../ui/Unavailable'
import { ChangeLine } from './ChangeLine'
import { changesOf, countsOf, sections } from './week'

/** What was learned, changed, contradicted and lost in the last seven days. */
export default function ChangesPage() {
  const { section, butler: named } = useSearch({ from: '/memory/changes' })
  const navigate = useNavigate({ from: '/memory/changes' })
  const { ready, butler, many, choose } = useListButler(
    named,
    (next) => void navigate({ search: (previous) => ({ ...previous, butler: next }), replace: true }),
  )
  const week = useGet('/api/memory/changes', { query: { since: '7d', butler } }, { enabled: ready })
  const changes = changesOf(week.data?.data ?? [])
  const counts = countsOf(changes)
  const shown = changes.filter((change) => !section || change.section === section)
  const leftOut = (week.data?.data ?? []).reduce((sum, { left_out }) => sum + left_out, 0)
  return (
    <Page
      title="What changed this week"
      above={<Back to="/memory">Overview</Back>}
      actions={many ? <ButlerSelect value={butler} onChange={choose} /> : undefined}
    >
      <div className="mb-4">
        <Segments
          label="Kind of change"
          value={section ?? 'all'}
          options={[
            ['all', 'All', changes.length],
            ...sections.map((name) => [name, capitalized(name), counts[name]] as const),
          ]}
          onChange={(next) =>
            void navigate({
              search: (previous) => ({ ...previous, section: sections.find((name) => name === next) }),
              replace: true,
            })
          }
        />
      </div>
      <Unavailable butlers={week.data?.meta.unavailable} />
      {week.isError && !week.data ? (
        <Failure error={week.error} retry={() => void week.refetch()} />
      ) : week.isPending ? (
        <Loading rows={10} />
      ) : shown.length === 0 ? (
        <Empty title="Nothing of this kind this week" />
      ) : (
        <div className="space-y-5">
          {groupBy(shown, (change) => dayName(change.at)).map(([day, list]) => (
            <div key={day}>
              <h2 className="mb-2 text-sm font-medium text-muted">{day}</h2>
              <ul aria-label={`Changes: ${day}`} className="card divide-y divide-line overflow-hidden">
                {list.map((change) => (
                  <ChangeLine key={`${change.section}${change.id}`} change={change} />
                ))}
              </ul>
            </div>
          ))}
        </div>
      )}
      {leftOut > 0 && (
        <p className="mt-4 text-sm text-muted">{counted(leftOut, 'older change')} of this week are in the timeline.</p>
      )}
    </Page>
  )
}
