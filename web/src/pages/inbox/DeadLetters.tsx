import { useMutation, useQueryClient } from '@tanstack/react-query'
import { request } from '../../api/client'
import { useGet } from '../../api/hooks'
import { missingRight, useHasRight } from '../../api/rights'
import type { DeadLetterAt } from '../../api/schema'
import { counted } from '../../lib/number'
import { MemoryLink } from '../../memory/MemoryLink'
import { Results } from '../../ui/Results'
import { Section } from '../../ui/Section'
import { Empty } from '../../ui/states'
import { Time } from '../../ui/Time'
import { failure, toast } from '../../ui/toast'
import { Decide, Item } from './Item'
import { usePaging } from './usePaging'

function Row({ letter, canDecide }: { letter: DeadLetterAt; canDecide: boolean }) {
  const client = useQueryClient()
  const requeue = useMutation({
    mutationFn: () =>
      request('post', '/api/memory/dead-letters/requeue', {
        query: { butler: letter.home },
        body: { ids: [letter.id] },
      }),
    onSuccess: () => {
      toast('Requeued for the next consolidation run.')
      return client.invalidateQueries()
    },
    onError: failure('Not requeued'),
  })
  return (
    <Item>
      <div className="grid gap-x-6 gap-y-3 md:grid-cols-[minmax(0,1fr)_auto]">
        <div className="min-w-0">
          <MemoryLink kind="episode" id={letter.id} className="memory-text line-clamp-2 text-lg hover:underline">
            {letter.excerpt}
          </MemoryLink>
          <p className="mt-1 text-sm break-words text-muted">
            <span className="text-harm">✕ {counted(letter.attempts, 'attempt')}</span>:{' '}
            {letter.error ?? 'no reason recorded'} · {letter.butler}, <Time at={letter.created_at} how="date" />
          </p>
        </div>
        {canDecide && (
          <div className="flex items-start">
            <Decide
              keys="y"
              about={letter.excerpt.slice(0, 80)}
              busy={requeue.isPending}
              onDecide={() => requeue.mutate()}
            >
              Requeue
            </Decide>
          </div>
        )}
      </div>
    </Item>
  )
}

/** Episodes from which nothing was learned, because consolidation failed too often. */
export function DeadLetters() {
  const { page, options, setOffset, leaveEmptyPage } = usePaging()
  const list = useGet('/api/memory/dead-letters', { query: page }, options)
  leaveEmptyPage(list)
  const canDecide = useHasRight('admin')
  return (
    <Section
      title="Dead letters"
      aside={!canDecide && <span className="text-sm text-muted">{missingRight.admin}</span>}
    >
      <Results
        query={list}
        of="dead letters"
        hideUnavailable
        onMove={setOffset}
        empty={
          <Empty title="No dead letters">
            An episode whose consolidation fails too often appears here, with the reason. When the reason is gone,
            requeue it.
          </Empty>
        }
      >
        {(rows) => (
          <ul aria-label="Dead letters" className="card overflow-hidden">
            {rows.map((letter) => (
              <Row key={letter.id} letter={letter} canDecide={canDecide} />
            ))}
          </ul>
        )}
      </Results>
    </Section>
  )
}
