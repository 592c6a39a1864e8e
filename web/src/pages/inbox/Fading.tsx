import { useState } from 'react'
import { useGet } from '../../api/hooks'
import { missingRight, useHasRight } from '../../api/rights'
import type { FactItemAt, RuleItemAt } from '../../api/schema'
import { capitalized } from '../../lib/labels'
import { KindBadge } from '../../memory/badges'
import { confidenceReason } from '../../memory/confidence'
import { EditDialog } from '../../memory/EditDialog'
import { MemoryLink } from '../../memory/MemoryLink'
import { useConfirm, useForget } from '../../memory/useActions'
import { Confidence } from '../../ui/Confidence'
import { Results } from '../../ui/Results'
import { Section } from '../../ui/Section'
import { Empty } from '../../ui/states'
import { Decide, Item } from './Item'
import { usePaging } from './usePaging'

type Fading = ({ kind: 'fact' } & FactItemAt) | ({ kind: 'rule' } & RuleItemAt)

function Row({ memory, canWrite }: { memory: Fading; canWrite: boolean }) {
  const [editing, setEditing] = useState(false)
  const confirm = useConfirm(memory.kind)
  const forget = useForget(memory.kind)
  const busy = confirm.isPending || forget.isPending
  const about = memory.content.slice(0, 80)
  return (
    <Item>
      <div className="grid gap-x-6 gap-y-3 md:grid-cols-[minmax(0,1fr)_auto]">
        <div className="min-w-0">
          {memory.kind === 'fact' && (
            <p className="flex min-w-0 flex-wrap items-baseline gap-x-2 text-sm text-muted">
              <bdi className="font-medium break-all text-ink">{memory.subject}</bdi>
              <bdi className="break-all">{capitalized(memory.predicate).toLowerCase()}</bdi>
            </p>
          )}
          <MemoryLink kind={memory.kind} id={memory.id} className="memory-text block text-lg hover:underline">
            {memory.content}
          </MemoryLink>
          <p className="mt-2 flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted">
            <KindBadge kind={memory.kind} />
            <Confidence value={memory.effective_confidence} fading why={confidenceReason(memory)} />
          </p>
        </div>
        {canWrite && (
          <div className="flex flex-wrap items-start gap-2">
            <Decide keys="y" about={about} busy={busy} onDecide={() => confirm.mutate(memory.id)}>
              Confirm
            </Decide>
            <Decide keys="n" about={about} variant="danger" busy={busy} onDecide={() => forget.mutate(memory.id)}>
              Forget
            </Decide>
            <Decide keys="e" about={about} busy={busy} onDecide={() => setEditing(true)}>
              Edit
            </Decide>
          </div>
        )}
      </div>
      {editing && (
        <EditDialog
          kind={memory.kind}
          id={memory.id}
          content={memory.content}
          {...(memory.kind === 'fact' ? { dates: memory } : {})}
          onClose={() => setEditing(false)}
        />
      )}
    </Item>
  )
}

interface ListProps {
  kind: 'fact' | 'rule'
  canWrite: boolean
}

/** The memories of one type that fade, the weakest first. */
function List({ kind, canWrite }: ListProps) {
  const { page, options, setOffset, leaveEmptyPage } = usePaging()
  const facts = useGet(
    '/api/memory/facts',
    { query: { ...page, validity: 'fading', sort: 'least_confident' } },
    { ...options, enabled: options.enabled && kind === 'fact' },
  )
  const rules = useGet(
    '/api/memory/rules',
    { query: { ...page, state: 'fading' } },
    { ...options, enabled: options.enabled && kind === 'rule' },
  )
  leaveEmptyPage(kind === 'fact' ? facts : rules)
  const empty =
    kind === 'fact' ? (
      <Empty title="Nothing fades">
        A fact that nobody confirms loses confidence. Before it is lost, it appears here to be confirmed or forgotten.
      </Empty>
    ) : null
  const list = (rows: Fading[]) => (
    <ul aria-label={`Fading ${kind}s`} className="card overflow-hidden">
      {rows.map((memory) => (
        <Row key={memory.id} memory={memory} canWrite={canWrite} />
      ))}
    </ul>
  )
  if (kind === 'fact')
    return (
      <Results query={facts} of="fading facts" hideUnavailable onMove={setOffset} empty={empty}>
        {(rows) => list(rows.map((row) => ({ kind: 'fact', ...row })))}
      </Results>
    )
  if (!rules.data || rules.data.data.length === 0) return null
  return (
    <Results query={rules} of="fading rules" hideUnavailable onMove={setOffset} empty={empty}>
      {(rows) => list(rows.map((row) => ({ kind: 'rule', ...row })))}
    </Results>
  )
}

/** Facts and rules that are about to be lost. */
export function Fading() {
  const canWrite = useHasRight('write')
  return (
    <Section title="Fading" aside={!canWrite && <span className="text-sm text-muted">{missingRight.write}</span>}>
      <div className="space-y-4">
        <List kind="fact" canWrite={canWrite} />
        <List kind="rule" canWrite={canWrite} />
      </div>
    </Section>
  )
}
