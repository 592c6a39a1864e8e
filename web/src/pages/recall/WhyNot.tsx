import { useDeferredValue, useState } from 'react'
import { useGet } from '../../api/hooks'
import { fixed } from '../../lib/number'
import { KindBadge } from '../../memory/badges'
import { MemoryLink } from '../../memory/MemoryLink'
import { Button } from '../../ui/Button'
import { Section } from '../../ui/Section'
import { Failure, Loading } from '../../ui/states'
import type { Setting } from './Compare'

const SHOWN = 6

interface Props {
  question: string
  setting: Setting
  /** The memory that is asked about. */
  id: string | undefined
  onPick: (id: string | undefined) => void
}

/** Searches for the memory that should have been recalled. */
function Pick({ butler, onPick }: { butler: string | undefined; onPick: (id: string) => void }) {
  const [text, setText] = useState('')
  const q = useDeferredValue(text.trim())
  const found = useGet(
    '/api/memory/search',
    { query: { q, butler, limit: 20 } },
    { enabled: q !== '', keepPrevious: true },
  )
  const rows = (found.data?.data ?? []).filter(({ kind }) => kind !== 'entity').slice(0, SHOWN)
  return (
    <div className="space-y-2">
      <label className="block">
        <span className="sr-only">Memory that is missing</span>
        <input
          type="search"
          className="control w-full"
          placeholder="Find the memory that is missing"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      {q !== '' && rows.length > 0 && (
        <ul aria-label="Memories found" className="card divide-y divide-line">
          {rows.map((row) => (
            <li key={row.id}>
              <button
                type="button"
                className="flex w-full items-center gap-3 px-3 py-2 text-left hover:bg-sunken"
                onClick={() => onPick(row.id)}
              >
                <KindBadge kind={row.kind} />
                <span className="min-w-0 truncate">
                  {row.title} <span className="text-muted">{row.preview}</span>
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {q !== '' && found.isSuccess && rows.length === 0 && (
        <p className="text-sm text-muted">No memory has these words.</p>
      )}
    </div>
  )
}

function Answer({ question, setting, id }: { question: string; setting: Setting; id: string }) {
  const answer = useGet('/api/memory/why-not', { query: { ...setting, q: question, id } })
  if (answer.isPending) return <Loading rows={2} />
  if (answer.isError) return <Failure error={answer.error} retry={() => void answer.refetch()} />
  const told = answer.data.data
  const rank = (name: string, value: number | null) =>
    `${name} ${value === null ? `not in ${told.searched}` : `#${value}`}`
  return (
    <div className="space-y-3">
      <p>
        <MemoryLink kind={told.memory_type} id={told.id} className="font-serif text-lg hover:underline">
          {told.label}
        </MemoryLink>
      </p>
      <p role="status" className={told.served ? 'text-accent' : 'text-harm'}>
        {told.served ? `✓ It is recalled, at place ${told.rank}.` : '✕ It is not recalled.'}
      </p>
      <p className="figure flex flex-wrap gap-x-4 text-sm text-muted">
        <span>{told.rank === null ? 'not ranked' : `place ${told.rank} of ${told.limit} returned`}</span>
        <span>{rank('by meaning', told.semantic_rank)}</span>
        <span>{rank('by keywords', told.keyword_rank)}</span>
        {told.hit && <span>score {fixed(told.hit.score, 3)}</span>}
        {told.last_served && <span>last returned {fixed(told.last_served.score, 3)}</span>}
      </p>
      {told.reasons.length > 0 && (
        <ul aria-label="Reasons" className="space-y-2">
          {told.reasons.map((reason) => (
            <li key={reason.code + reason.message} className="break-words">
              <span className="first-letter:uppercase">{reason.message}.</span>{' '}
              <span className="text-muted">To change that: {reason.remedy}.</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** Why a question does not recall a memory, and what would change that. */
export function WhyNot({ question, setting, id, onPick }: Props) {
  return (
    <Section
      title="Why not?"
      aside={
        id && (
          <Button size="small" onClick={() => onPick(undefined)}>
            Another memory
          </Button>
        )
      }
    >
      <div className="card p-4">
        {id ? (
          <Answer question={question} setting={setting} id={id} />
        ) : (
          <Pick butler={setting.butler} onPick={onPick} />
        )}
      </div>
    </Section>
  )
}
