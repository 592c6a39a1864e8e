import { Link } from '@tanstack/react-router'
import { useGet } from '../../api/hooks'
import { EventList } from '../../memory/EventList'
import { Section } from '../../ui/Section'
import { Failure, Loading } from '../../ui/states'

const SIZE = 16

/** The latest changes by consolidation and the decay sweep. */
export function Activity({ butler }: { butler: string | undefined }) {
  const activity = useGet('/api/memory/activity', { query: { limit: SIZE, butler } })
  return (
    <Section
      title="Activity"
      aside={
        <Link to="/timeline" className="text-sm text-muted hover:text-ink hover:underline">
          Timeline
        </Link>
      }
    >
      {activity.data ? (
        activity.data.data.length > 0 ? (
          <EventList events={activity.data.data} />
        ) : (
          <p className="text-muted">No activity yet.</p>
        )
      ) : activity.isError ? (
        <Failure error={activity.error} retry={() => void activity.refetch()} />
      ) : (
        <Loading rows={8} />
      )}
    </Section>
  )
}
