import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { request } from '../../api/client'
import { useGet } from '../../api/hooks'
import { missingRight, useHasRight } from '../../api/rights'
import { counted } from '../../lib/number'
import { MemoryLink } from '../../memory/MemoryLink'
import { Button } from '../../ui/Button'
import { Section } from '../../ui/Section'
import { Time } from '../../ui/Time'
import { failure, toast } from '../../ui/toast'

const SHOWN = 5

/** Episodes whose consolidation failed too often, with the reason. Renders nothing when there are none. */
export function DeadLetters({ butler }: { butler: string | undefined }) {
  const client = useQueryClient()
  const isAdmin = useHasRight('admin')
  const letters = useGet('/api/memory/dead-letters', { query: { limit: SHOWN, butler } })
  const requeue = useMutation({
    mutationFn: () => request('post', '/api/memory/dead-letters/requeue', { query: { butler }, body: {} }),
    onSuccess: ({ data }) => {
      toast(`${counted(data.requeued, 'episode')} requeued.`)
      return client.invalidateQueries()
    },
    onError: failure('Not requeued'),
  })
  if (!letters.data || letters.data.data.length === 0) return null
  return (
    <Section
      title="Dead letters"
      aside={
        isAdmin ? (
          <Button size="small" busy={requeue.isPending} onClick={() => requeue.mutate()}>
            Requeue all
          </Button>
        ) : (
          <span className="text-sm text-muted">{missingRight.admin}</span>
        )
      }
    >
      <ul className="card divide-y divide-line">
        {letters.data.data.map((letter) => (
          <li key={letter.id} className="px-4 py-2.5">
            <MemoryLink kind="episode" id={letter.id} className="line-clamp-1 font-serif break-all hover:underline">
              {letter.excerpt}
            </MemoryLink>
            <p className="text-sm break-words text-muted">
              <span className="text-harm">✕ {counted(letter.attempts, 'attempt')}</span>:{' '}
              {letter.error ?? 'no reason recorded'} · {letter.butler}, <Time at={letter.created_at} how="date" />
            </p>
          </li>
        ))}
        {letters.data.meta.total > SHOWN && (
          <li className="px-4 py-2.5 text-sm">
            <Link to="/memory/episodes" search={{ status: 'dead_letter' }} className="link">
              Show all {letters.data.meta.total} dead letters
            </Link>
          </li>
        )}
      </ul>
    </Section>
  )
}
