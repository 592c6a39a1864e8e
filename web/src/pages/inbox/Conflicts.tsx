import { useState } from 'react'
import { useGet } from '../../api/hooks'
import { missingRight, useHasRight } from '../../api/rights'
import type { ConflictAt } from '../../api/schema'
import { capitalized } from '../../lib/labels'
import { KindBadge } from '../../memory/badges'
import { Results } from '../../ui/Results'
import { Section } from '../../ui/Section'
import { Empty } from '../../ui/states'
import { Time } from '../../ui/Time'
import { ConflictSide } from './ConflictSide'
import { Decide, Item } from './Item'
import { KeepBothDialog } from './KeepBothDialog'
import { verdictLabel, whyLabel } from './labels'
import { MergeTextDialog } from './MergeTextDialog'
import { type Resolution, useResolve } from './useDecisions'
import { usePaging } from './usePaging'

const choices: [resolution: Exclude<Resolution, 'merge'>, keys: string, label: string][] = [
  ['keep_a', 'a y', 'Keep A'],
  ['keep_b', 'b', 'Keep B'],
  ['keep_both', 'n', 'Keep both'],
]

function Row({ conflict, canDecide }: { conflict: ConflictAt; canDecide: boolean }) {
  const [merging, setMerging] = useState(false)
  const [keeping, setKeeping] = useState(false)
  const resolve = useResolve(conflict)
  const about = `${conflict.a.subject} ${capitalized(conflict.a.predicate).toLowerCase()}`
  const common = { about, busy: resolve.isPending }
  return (
    <Item>
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted">
        <KindBadge kind={conflict.kind} />
        <span>{whyLabel[conflict.why] ?? capitalized(conflict.why).toLowerCase()}</span>
        <span>
          found <Time at={conflict.detected_at} />
        </span>
      </p>
      <div className="mt-2 grid gap-3 md:grid-cols-2">
        <ConflictSide name="A" side={conflict.a} />
        <ConflictSide name="B" side={conflict.b} />
      </div>
      {conflict.verdict && (
        <p className="mt-2 text-sm break-words">
          <span className="text-muted">The judge says: {verdictLabel[conflict.verdict] ?? conflict.verdict}.</span>{' '}
          <bdi>{conflict.reason}</bdi>
        </p>
      )}
      {canDecide && (
        <div className="mt-3 flex flex-wrap gap-2">
          {choices.map(([resolution, keys, label]) => (
            <Decide key={resolution} keys={keys} {...common} onDecide={() => resolve.mutate({ resolution })}>
              {label}
            </Decide>
          ))}
          <Decide keys="s" {...common} onDecide={() => setKeeping(true)}>
            Keep both, apart
          </Decide>
          <Decide keys="m" {...common} onDecide={() => setMerging(true)}>
            Merge text
          </Decide>
          <Decide keys="f" variant="danger" {...common} onDecide={() => resolve.mutate({ resolution: 'forget_both' })}>
            Forget both
          </Decide>
        </div>
      )}
      {keeping && (
        <KeepBothDialog
          conflict={conflict}
          onKeep={(distinction) => {
            setKeeping(false)
            resolve.mutate({ resolution: 'keep_both', ...distinction })
          }}
          onClose={() => setKeeping(false)}
        />
      )}
      {merging && (
        <MergeTextDialog
          conflict={conflict}
          onMerge={(content) => {
            setMerging(false)
            resolve.mutate({ resolution: 'merge', content })
          }}
          onClose={() => setMerging(false)}
        />
      )}
    </Item>
  )
}

/** Pairs of facts that contradict or repeat each other. */
export function Conflicts() {
  const { page, options, setOffset, leaveEmptyPage } = usePaging()
  const list = useGet('/api/memory/conflicts', { query: page }, options)
  leaveEmptyPage(list)
  const canDecide = useHasRight('admin')
  return (
    <Section title="Conflicts" aside={!canDecide && <span className="text-sm text-muted">{missingRight.admin}</span>}>
      <Results
        query={list}
        of="conflicts"
        hideUnavailable
        onMove={setOffset}
        empty={
          <Empty title="No conflicts">
            Two facts that contradict each other, such as different numbers, dates or a negation, or that say almost the
            same appear here side by side.
          </Empty>
        }
      >
        {(rows) => (
          <ul aria-label="Conflicts" className="card overflow-hidden">
            {rows.map((conflict) => (
              <Row key={conflict.id} conflict={conflict} canDecide={canDecide} />
            ))}
          </ul>
        )}
      </Results>
    </Section>
  )
}
