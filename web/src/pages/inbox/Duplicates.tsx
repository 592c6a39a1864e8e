import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useGet } from '../../api/hooks'
import { missingRight, useHasRight } from '../../api/rights'
import type { DuplicatePairAt } from '../../api/schema'
import { capitalized } from '../../lib/labels'
import { counted, percent } from '../../lib/number'
import { Results } from '../../ui/Results'
import { Section } from '../../ui/Section'
import { Empty } from '../../ui/states'
import { MergeDialog } from '../entities/MergeDialog'
import { Decide, Item } from './Item'
import { useKeepApart } from './useDecisions'
import { usePaging } from './usePaging'

function Side({ entity }: { entity: DuplicatePairAt['a'] }) {
  return (
    <span className="min-w-0">
      <Link
        to="/entities/$id"
        params={{ id: entity.id }}
        className="block text-lg font-medium break-words hover:underline"
      >
        {entity.canonical_name}
      </Link>
      <span className="block text-sm break-words text-muted">
        {[counted(entity.facts, 'fact'), entity.aliases.length > 0 && `also ${entity.aliases.join(', ')}`]
          .filter(Boolean)
          .join(' · ')}
      </span>
    </span>
  )
}

function Row({ pair, canWrite }: { pair: DuplicatePairAt; canWrite: boolean }) {
  const [merging, setMerging] = useState(false)
  const apart = useKeepApart(pair)
  const about = `${pair.b.canonical_name} and ${pair.a.canonical_name}`
  return (
    <Item>
      <div className="grid gap-x-6 gap-y-3 md:grid-cols-[minmax(0,1fr)_auto]">
        <div className="min-w-0">
          <div className="grid gap-x-6 gap-y-2 sm:grid-cols-2">
            <Side entity={pair.a} />
            <Side entity={pair.b} />
          </div>
          <p className="mt-1 text-sm text-muted">
            {capitalized(pair.a.entity_type)} · names {percent(pair.similarity)} alike · {pair.home}
          </p>
        </div>
        {canWrite && (
          <div className="flex flex-wrap items-start gap-2">
            <Decide keys="y" about={about} busy={apart.isPending} onDecide={() => setMerging(true)}>
              Merge…
            </Decide>
            <Decide keys="n" about={about} busy={apart.isPending} onDecide={() => apart.mutate()}>
              Keep apart
            </Decide>
          </div>
        )}
      </div>
      {merging && (
        <MergeDialog
          entity={{ ...pair.b, home: pair.home, duplicates: [] }}
          other={pair.a}
          stay
          onClose={() => setMerging(false)}
        />
      )}
    </Item>
  )
}

/** Pairs of entities whose names are so alike that they may be the same. */
export function Duplicates() {
  const { page, options, setOffset, leaveEmptyPage } = usePaging()
  const list = useGet('/api/memory/duplicates', { query: page }, options)
  leaveEmptyPage(list)
  const canWrite = useHasRight('write')
  return (
    <Section title="Duplicates" aside={!canWrite && <span className="text-sm text-muted">{missingRight.write}</span>}>
      {list.data?.meta.incomplete && (
        <p role="note" className="mb-3 text-sm text-muted">
          There are too many names to compare them all. Some duplicates may be missing from this list.
        </p>
      )}
      <Results
        query={list}
        of="duplicates"
        hideUnavailable
        onMove={setOffset}
        empty={
          <Empty title="No duplicates">
            Two people, places or organizations with almost the same name appear here, to be merged or kept apart.
          </Empty>
        }
      >
        {(rows) => (
          <ul aria-label="Duplicates" className="card overflow-hidden">
            {rows.map((pair) => (
              <Row key={pair.a.id + pair.b.id} pair={pair} canWrite={canWrite} />
            ))}
          </ul>
        )}
      </Results>
    </Section>
  )
}
