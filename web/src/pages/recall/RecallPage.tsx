import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useGet } from '../../api/hooks'
import { Button } from '../../ui/Button'
import { Page } from '../../ui/Page'
import { Section } from '../../ui/Section'
import { Select } from '../../ui/Select'
import { Empty, Failure, Loading } from '../../ui/states'
import { Unavailable } from '../../ui/Unavailable'
import { ContextBlock } from './ContextBlock'
import { HitTable } from './HitTable'

const examples = ['What can I cook tonight?', 'When is the next appointment?', 'How should reports be written?']

/** Shows what an agent would receive for a question, and why. */
export default function RecallPage() {
  const search = useSearch({ from: '/recall' })
  const navigate = useNavigate({ from: '/recall' })
  const stats = useGet('/api/memory/stats')
  // default to the butler with the most memories
  const butlers = [...(stats.data?.data.butlers ?? [])].sort((a, b) => b.facts + b.rules - a.facts - a.rules)
  const names = butlers.map((figures) => figures.butler)
  const butler = search.butler ?? names[0]
  const [draft, setDraft] = useState(search.q ?? '')
  const question = search.q ?? ''
  const missing = stats.data?.meta.unavailable ?? []
  const answer = useGet(
    '/api/memory/recall',
    { query: { q: question, butler } },
    { enabled: question !== '' && !stats.isPending, keepPrevious: true },
  )
  function ask(q: string) {
    setDraft(q)
    void navigate({ search: (previous) => ({ ...previous, q: q.trim() || undefined }) })
  }
  function submit(event: FormEvent) {
    event.preventDefault()
    ask(draft)
  }
  return (
    <Page
      title="Recall lab"
      lead="See what a question recalls, why, and the exact context block. This does not count as a read."
    >
      <form onSubmit={submit} className="mb-6 flex flex-wrap items-center gap-2">
        <label className="min-w-0 flex-1 basis-72">
          <span className="sr-only">Question</span>
          <input
            data-search=""
            type="search"
            className="control w-full"
            placeholder="Ask a question"
            value={draft}
            onChange={(event) => setDraft(event.target.value)}
          />
        </label>
        {names.length > 1 && (
          <Select
            label="Butler"
            value={butler ?? ''}
            options={names.map((name): [string, string] => [name, name])}
            onChange={(next) =>
              void navigate({ search: (previous) => ({ ...previous, butler: next === names[0] ? undefined : next }) })
            }
          />
        )}
        <Button type="submit" variant="primary" busy={answer.isFetching && question !== ''}>
          Recall
        </Button>
      </form>
      <Unavailable butlers={missing} />
      {question === '' ? (
        <Empty title="Ask a question">
          <span className="flex flex-wrap justify-center gap-2 pt-2">
            {examples.map((example) => (
              <Button key={example} size="small" onClick={() => ask(example)}>
                {example}
              </Button>
            ))}
          </span>
        </Empty>
      ) : answer.isPending ? (
        <Loading />
      ) : answer.isError ? (
        <Failure error={answer.error} retry={() => void answer.refetch()} />
      ) : (
        <div className="grid gap-x-8 gap-y-10 xl:grid-cols-[minmax(0,1.55fr)_minmax(0,1fr)]">
          <Section title="Recalled memories">
            <HitTable hits={answer.data.data.results} weights={answer.data.data.trace?.weights} />
          </Section>
          <Section title="Session context">
            <ContextBlock
              text={answer.data.data.context.text}
              tokens={answer.data.data.context.tokens}
              budget={answer.data.data.context.token_budget}
            />
          </Section>
        </div>
      )}
    </Page>
  )
}
