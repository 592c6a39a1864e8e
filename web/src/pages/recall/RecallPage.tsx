import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useGet } from '../../api/hooks'
import { useOverviewButler } from '../../api/overview-butler'
import { Button } from '../../ui/Button'
import { Page } from '../../ui/Page'
import { Section } from '../../ui/Section'
import { Segments } from '../../ui/Segments'
import { Select } from '../../ui/Select'
import { Empty, Failure, Loading } from '../../ui/states'
import { Unavailable } from '../../ui/Unavailable'
import { AsToken } from './AsToken'
import { Compare } from './Compare'
import { ContextBlock } from './ContextBlock'
import { HitTable } from './HitTable'
import { type Case, loadCases, saveCases, toggle } from './testSet'
import { UnderstoodTime } from './UnderstoodTime'
import { WhyNot } from './WhyNot'

const examples = ['What can I cook tonight?', 'When is the next appointment?', 'How should reports be written?']

const times = [
  ['valid_at', 'Valid at'],
  ['as_of', 'As of'],
] as const

/** Ranks butlers by their number of memories, and the demo below every other butler that has any. */
function rank({ butler, facts, rules }: { butler: string; facts: number; rules: number }): number {
  const memories = facts + rules
  return butler === 'demo' ? Math.min(memories, 0.5) : memories
}

/** Shows what an agent would receive for a question, and why. */
export default function RecallPage() {
  const search = useSearch({ from: '/recall' })
  const navigate = useNavigate({ from: '/recall' })
  const overview = useOverviewButler()
  const listed = useGet('/api/butlers').data?.data ?? []
  const stats = useGet('/api/memory/stats', {}, { enabled: overview.ready && !overview.many })
  // default to the butler with the most memories or, if there are many butlers, to the chosen one
  const butlers = [...(stats.data?.data.butlers ?? [])].sort((a, b) => rank(b) - rank(a))
  const names = overview.many ? listed.map(({ name }) => name) : butlers.map((figures) => figures.butler)
  const usual = overview.many ? (overview.butler ?? names[0]) : names[0]
  const known = overview.ready && (overview.many || !stats.isPending)
  const butler = search.butler ?? usual
  const [draft, setDraft] = useState(search.q ?? '')
  const [dates, setDates] = useState({ valid_at: search.valid_at ?? '', as_of: search.as_of ?? '' })
  const [scope, setScope] = useState(search.scope ?? '')
  const [cases, setCases] = useState(loadCases)
  function keep(next: Case[]) {
    setCases(next)
    saveCases(next)
  }
  const setting = {
    butler,
    scope: search.scope,
    valid_at: search.valid_at,
    as_of: search.as_of,
    as_token: search.as_token,
  }
  const comparing = search.tab === 'compare'
  const question = search.q ?? ''
  const missing = stats.data?.meta.unavailable ?? []
  const answer = useGet(
    '/api/memory/recall',
    { query: { q: question, ...setting } },
    { enabled: question !== '' && known && !comparing, keepPrevious: true },
  )
  function ask(q: string) {
    setDraft(q)
    void navigate({
      search: (previous) => ({
        ...previous,
        q: q.trim() || undefined,
        valid_at: dates.valid_at.trim() || undefined,
        as_of: dates.as_of.trim() || undefined,
        scope: scope.trim() || undefined,
      }),
    })
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
      <div className="mb-4">
        <Segments
          label="What to do"
          value={search.tab ?? 'ask'}
          options={[
            ['ask', 'Ask'],
            ['compare', 'Compare weights', cases.length],
          ]}
          onChange={(tab) => void navigate({ search: (previous) => ({ ...previous, tab }) })}
        />
      </div>
      <form onSubmit={submit} className="mb-6 flex flex-wrap items-center gap-2">
        {!comparing && (
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
        )}
        <label className="flex min-w-0 items-center gap-2 text-sm whitespace-nowrap text-muted">
          Scope
          <input
            className="control w-full min-w-0 text-ink sm:w-28"
            placeholder="all"
            title="Only memories of this scope and the global scope, as a butler of that name reads them"
            autoComplete="off"
            spellCheck={false}
            value={scope}
            onChange={(event) => setScope(event.target.value)}
          />
        </label>
        <span className="grid grid-cols-2 gap-2 max-sm:w-full sm:inline-flex">
          {times.map(([name, label]) => (
            <label key={name} className="flex min-w-0 items-center gap-2 text-sm whitespace-nowrap text-muted">
              {label}
              <input
                className="control w-full min-w-0 text-ink sm:w-28"
                placeholder="2023-03"
                title={
                  name === 'valid_at'
                    ? 'What was true then: a year, month, day or time'
                    : 'What was believed then: a year, month, day or time'
                }
                autoComplete="off"
                spellCheck={false}
                value={dates[name]}
                onChange={(event) => setDates((previous) => ({ ...previous, [name]: event.target.value }))}
              />
            </label>
          ))}
        </span>
        {names.length > 1 && (
          <Select
            label="Butler"
            value={butler ?? ''}
            options={names.map((name): [string, string] => [name, name])}
            onChange={(next) =>
              void navigate({ search: (previous) => ({ ...previous, butler: next === usual ? undefined : next }) })
            }
          />
        )}
        <AsToken
          value={search.as_token}
          onChange={(as_token, limited) =>
            void navigate({ search: (previous) => ({ ...previous, as_token, butler: limited ?? previous.butler }) })
          }
        />
        <Button type="submit" variant="primary" busy={answer.isFetching && question !== ''}>
          {comparing ? 'Apply' : 'Recall'}
        </Button>
      </form>
      <Unavailable butlers={missing} />
      {comparing ? (
        <Compare setting={setting} cases={cases} onCases={keep} />
      ) : question === '' ? (
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
            {answer.data.data.trace && <UnderstoodTime time={answer.data.data.trace.time} />}
            <HitTable
              hits={answer.data.data.results}
              weights={answer.data.data.trace?.weights}
              expected={cases.find((one) => one.q === question)?.expected}
              onExpect={(hit) => keep(toggle(cases, question, { id: hit.id, label: hit.content.slice(0, 80) }))}
            />
          </Section>
          <div className="min-w-0 space-y-10">
            <WhyNot
              question={question}
              setting={setting}
              id={search.why}
              onPick={(why) => void navigate({ search: (previous) => ({ ...previous, why }) })}
            />
            <Section title="Session context">
              <ContextBlock
                text={answer.data.data.context.text}
                tokens={answer.data.data.context.tokens}
                budget={answer.data.data.context.token_budget}
              />
            </Section>
          </div>
        </div>
      )}
    </Page>
  )
}
