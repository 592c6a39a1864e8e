import { useGet } from '../../api/hooks'
import type { JobItemAt } from '../../api/schema'
import { cx } from '../../lib/cx'
import { groupBy } from '../../lib/group'
import { capitalized } from '../../lib/labels'
import { Badge } from '../../ui/Badge'
import { Failure, Loading } from '../../ui/states'
import { Time } from '../../ui/Time'
import { Unavailable } from '../../ui/Unavailable'
import { RunJob } from './RunJob'
import { describeSchedule, outcome } from './schedule'

function Row({ job }: { job: JobItemAt }) {
  const last = job.runs[0]
  const failed = last?.status === 'failed'
  return (
    <li
      className={cx(
        'grid gap-x-6 gap-y-2 border-b border-line px-4 py-3 last:border-0',
        'md:grid-cols-[minmax(0,1.1fr)_minmax(0,1fr)_15rem] md:items-center md:[&>:last-child]:justify-self-end',
      )}
    >
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-x-2 font-medium">
          {capitalized(job.job)}
          {job.running && <Badge tone="accent">◌ running</Badge>}
        </p>
        <p className="text-sm text-muted first-letter:uppercase">{job.about}</p>
      </div>
      <div className="min-w-0 text-sm">
        <p className={failed ? 'break-words text-harm' : 'break-words'}>
          {last ? (
            <>
              {failed ? '✕ ' : '✓ '}
              {outcome(last)} <Time at={last.started_at} />
            </>
          ) : (
            'not run yet'
          )}
        </p>
        <p className="text-muted" title={`${job.cron} (${job.time_zone})`}>
          {job.enabled ? describeSchedule(job.cron) : 'off'}
          {job.next_run_at && (
            <>
              , next <Time at={job.next_run_at} />
            </>
          )}
        </p>
      </div>
      <RunJob job={job} />
    </li>
  )
}

/** Each job with its schedule, its last result, and a button to run it if it is cheap. */
export function Jobs({ butler }: { butler: string | undefined }) {
  const jobs = useGet('/api/jobs', { query: { butler } })
  if (jobs.isPending) return <Loading rows={4} />
  if (jobs.isError) return <Failure error={jobs.error} retry={() => void jobs.refetch()} />
  const homes = groupBy(jobs.data.data, (job) => job.home)
  return (
    <div className="space-y-4">
      <Unavailable butlers={jobs.data.meta.unavailable} />
      {homes.map(([home, list]) => (
        <div key={home}>
          {homes.length > 1 && <h3 className="mb-1.5 text-sm font-medium text-muted">{home}</h3>}
          <ul className="card">
            {list.map((job) => (
              <Row key={job.job} job={job} />
            ))}
          </ul>
        </div>
      ))}
    </div>
  )
}
