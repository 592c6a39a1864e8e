import { useQueries } from '@tanstack/react-query'
import { useState } from 'react'
import { getOptions, useGet } from '../../api/hooks'
import { cx } from '../../lib/cx'
import { counted, percent } from '../../lib/number'
import { MemoryLink } from '../../memory/MemoryLink'
import { Button } from '../../ui/Button'
import { Section } from '../../ui/Section'
import { Empty, Failure } from '../../ui/states'
import type { Weights } from './HitTable'
import { TestSetFile } from './TestSetFile'
import { type Case, hitAtK, mean } from './testSet'
import { WeightInputs, weightsText } from './Weights'

/** What an agent reads first, and what it gets in all. */
const KS = [1, 3, 10] as const

export interface Setting {
  butler: string | undefined
  scope: string | undefined
  valid_at: string | undefined
  as_of: string | undefined
  /** The token whose holder asks. */
  as_token: string | undefined
}

type Hits = { id: string; memory_type: string; content: string }[]

/** The results of each question of the test set with these weights. */
function useResults(cases: Case[], setting: Setting, weights: Weights | undefined) {
  return useQueries({
    queries: cases.map(({ q }) => ({
      ...getOptions('/api/memory/recall', {
        query: { ...setting, q, limit: Math.max(...KS), weights: weights && weightsText(weights) },
      }),
      enabled: weights !== undefined,
    })),
  })
}

function Figures({ name, cases, results }: { name: string; cases: Case[]; results: Hits[] }) {
  return (
    <p className="figure flex flex-wrap gap-x-4 text-lg">
      <span className="font-semibold">{name}</span>
      {KS.map((k) => (
        <span key={k}>
          hit@{k} <strong>{percent(mean(cases.map((one, i) => hitAtK(one.expected, results[i] ?? [], k))))}</strong>
        </span>
      ))}
    </p>
  )
}

function Column({ name, hits, expected }: { name: string; hits: Hits; expected: Case['expected'] }) {
  const wanted = new Set(expected.map(({ id }) => id))
  return (
    <div className="min-w-0">
      <p className="label mb-1">
        {name}: hit@10 {percent(hitAtK(expected, hits, 10))}
      </p>
      <ol className="space-y-1.5 text-sm">
        {hits.slice(0, 5).map((hit, index) => (
          <li key={hit.id} className={cx('flex gap-2', wanted.has(hit.id) && 'font-medium text-accent')}>
            <span className="figure w-4 shrink-0 text-muted">{index + 1}</span>
            <MemoryLink kind={hit.memory_type} id={hit.id} className="truncate hover:underline">
              {wanted.has(hit.id) ? '✓ ' : ''}
              {hit.content}
            </MemoryLink>
          </li>
        ))}
      </ol>
    </div>
  )
}

interface Props {
  setting: Setting
  cases: Case[]
  onCases: (cases: Case[]) => void
}

/** Runs the test set with two sets of weights, side by side. */
export function Compare({ setting, cases, onCases }: Props) {
  // any question tells the configured weights
  const configured = useGet('/api/memory/recall', { query: { ...setting, q: 'weights', limit: 1 } }).data?.data.trace
    ?.weights
  const [chosen, setChosen] = useState<{ a?: Weights; b?: Weights }>({})
  const a = chosen.a ?? configured ?? undefined
  const b = chosen.b ?? configured ?? undefined
  const [ofA, ofB] = [useResults(cases, setting, a), useResults(cases, setting, b)]
  const failed = [...ofA, ...ofB].find((query) => query.isError)
  const hits = (queries: typeof ofA): Hits[] => queries.map((query) => query.data?.data.results ?? [])
  const [hitsOfA, hitsOfB] = [hits(ofA), hits(ofB)]
  const pending = [...ofA, ...ofB].some((query) => query.isPending)
  return (
    <div className="space-y-8">
      <div className="grid gap-4 lg:grid-cols-2">
        {a && <WeightInputs name="A" value={a} onChange={(weights) => setChosen((old) => ({ ...old, a: weights }))} />}
        {b && <WeightInputs name="B" value={b} onChange={(weights) => setChosen((old) => ({ ...old, b: weights }))} />}
      </div>
      <Section title="Test set" aside={<TestSetFile cases={cases} onCases={onCases} />}>
        {cases.length === 0 ? (
          <Empty title="No tests yet">
            Ask a question, and mark the memories that it should recall with “Expected”. The test set is kept in this
            browser.
          </Empty>
        ) : failed ? (
          <Failure error={failed.error} retry={() => void failed.refetch()} />
        ) : (
          <>
            <div role="status" aria-busy={pending} className="card mb-4 grid gap-2 p-4 md:grid-cols-2">
              <Figures name="A" cases={cases} results={hitsOfA} />
              <Figures name="B" cases={cases} results={hitsOfB} />
              <p className="text-sm text-muted md:col-span-2">
                hit@k: the share of the expected memories among the first k results, on average over{' '}
                {counted(cases.length, 'question')}. To keep weights, set score_weights in [modules.memory.retrieval] of
                butler.toml.
              </p>
            </div>
            <ul aria-label="Questions" className="card divide-y divide-line">
              {cases.map((one, index) => (
                <li key={one.q} className="space-y-2 px-4 py-3">
                  <div className="flex flex-wrap items-start justify-between gap-2">
                    <div className="min-w-0">
                      <p className="font-medium break-words">{one.q}</p>
                      <p className="text-sm break-words text-muted">
                        expects {one.expected.map(({ label }) => `“${label}”`).join(', ')}
                      </p>
                    </div>
                    <Button
                      size="small"
                      aria-label={`Remove the question ${one.q}`}
                      onClick={() => onCases(cases.filter((other) => other !== one))}
                    >
                      Remove
                    </Button>
                  </div>
                  <div className="grid gap-4 md:grid-cols-2">
                    <Column name="A" hits={hitsOfA[index] ?? []} expected={one.expected} />
                    <Column name="B" hits={hitsOfB[index] ?? []} expected={one.expected} />
                  </div>
                </li>
              ))}
            </ul>
          </>
        )}
      </Section>
    </div>
  )
}
