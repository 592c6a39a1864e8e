import { Link } from '@tanstack/react-router'
import { useGet } from '../../api/hooks'
import { EpisodeList } from '../../memory/EpisodeList'
import { Empty, Failure, Loading } from '../../ui/states'

const SIZE = 10

export function EpisodeStream({ name }: { name: string }) {
  const episodes = useGet('/api/butlers/{name}/memory/episodes', { path: { name }, query: { limit: SIZE } })
  if (episodes.isPending) return <Loading />
  if (episodes.isError) return <Failure error={episodes.error} />
  const { data, meta } = episodes.data
  if (data.length === 0)
    return <Empty title="No episodes yet">An agent stores an episode at the end of a session.</Empty>
  return (
    <>
      <EpisodeList episodes={data} compact />
      {meta.total > data.length && (
        <p className="mt-3 text-sm">
          <Link to="/memory/episodes" search={{ butler: name }} className="link">
            Show all {meta.total} episodes
          </Link>
        </p>
      )}
    </>
  )
}
