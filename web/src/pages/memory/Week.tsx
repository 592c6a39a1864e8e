import { Link } from '@tanstack/react-router'
import { Fragment } from 'react'
import { useGet } from '../../api/hooks'
import { Section } from '../../ui/Section'
import { Failure, Loading } from '../../ui/states'
import { ChangeLine } from './ChangeLine'
import { WeekChart } from './WeekChart'
import { changesOf, countsOf, daysOf, namesOf, phrase, sections } from './week'

/** As many as fit one screen with the rest. */
const LATEST = 7

/** This week in words, as a chart, and what is new. */
export function Week({ butler }: { butler: string | undefined }) {
  const week = useGet('/api/memory/changes', { query: { since: '7d', butler } })
  if (!week.data) {
    return week.isError ? <Failure error={week.error} retry={() => void week.refetch()} /> : <Loading rows={6} />
  }
  const changes = changesOf(week.data.data)
  const counts = countsOf(changes)
  const names = namesOf(changes)
  // what is lost is counted above; a list of it would hide what is new
  const latest = changes
    .filter(({ memory_type, section }) => memory_type !== 'episode' && section !== 'lost')
    .slice(0, LATEST)
  const leftOut = week.data.data.reduce((sum, { left_out }) => sum + left_out, 0)
  return (
    <>
      <p className="max-w-3xl font-serif text-xl text-balance">
        This week{leftOut > 0 && `, as far as ${changes.length} changes go back`}:{' '}
        {sections.map((section, index) => (
          <Fragment key={section}>
            {index > 0 && (index === sections.length - 1 ? ' and ' : ', ')}
            <Link
              to="/memory/changes"
              search={{ section, butler }}
              className="underline decoration-line-strong decoration-1 underline-offset-4 hover:decoration-accent"
            >
              {phrase(section, counts[section])}
            </Link>
          </Fragment>
        ))}
        .{names.length > 0 && ` Most of what is new is about ${listed(names)}.`}
      </p>
      <div className="mt-2 grid gap-6 lg:grid-cols-[minmax(0,1fr)_18rem]">
        <Section
          title="New this week"
          quiet
          aside={
            <Link
              to="/memory/changes"
              search={{ butler }}
              className="text-sm text-muted hover:text-ink hover:underline"
            >
              All of this week
            </Link>
          }
        >
          {latest.length > 0 ? (
            <ul aria-label="New this week" className="card divide-y divide-line overflow-hidden">
              {latest.map((change) => (
                <ChangeLine key={`${change.section}${change.id}`} change={change} />
              ))}
            </ul>
          ) : (
            <p className="text-muted">Nothing is new this week.</p>
          )}
        </Section>
        <Section title="By day" quiet>
          <WeekChart days={daysOf(changes, Date.now())} />
        </Section>
      </div>
    </>
  )
}

function listed(names: string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
