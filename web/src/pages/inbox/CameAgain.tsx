import { useGet } from '../../api/hooks'
import { missingRight, useHasRight } from '../../api/rights'
import type { TombstoneAt } from '../../api/schema'
import { counted } from '../../lib/number'
import { KindBadge } from '../../memory/badges'
import { MemoryLink } from '../../memory/MemoryLink'
import { Results } from '../../ui/Results'
import { Section } from '../../ui/Section'
import { Empty } from '../../ui/states'
import { Time } from '../../ui/Time'
import { Decide, Item } from './Item'
import { useAllowAgain } from './useDecisions'
import { usePaging } from './usePaging'

function Row({ tombstone, canAllow }: { tombstone: TombstoneAt; canAllow: boolean }) {
  const allow = useAllowAgain(tombstone)
  const erased = `An erased ${tombstone.memory_type}`
  return (
    <Item>
      <div className="grid gap-x-6 gap-y-3 md:grid-cols-[minmax(0,1fr)_auto]">
        <div className="min-w-0">
          {tombstone.text === null ? (
            <p className="text-muted italic">{erased}; only a hash of it is kept.</p>
          ) : (
            <MemoryLink
              kind={tombstone.memory_type}
              id={tombstone.id}
              className="memory-text block text-lg hover:underline"
            >
              {tombstone.text}
            </MemoryLink>
          )}
          <p className="mt-2 flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted">
            <KindBadge kind={tombstone.memory_type} />
            <span>
              came again {counted(tombstone.suppressed, 'time')}
              {tombstone.suppressed_at && (
                <>
                  , last <Time at={tombstone.suppressed_at} />
                </>
              )}
            </span>
            <span>
              forgotten <Time at={tombstone.forgotten_at} />
            </span>
            {tombstone.allowed_at && (
              <span className="text-accent">
                ✓ allowed <Time at={tombstone.allowed_at} />
              </span>
            )}
          </p>
        </div>
        {canAllow && !tombstone.allowed_at && (
          <div className="flex items-start">
            <Decide
              keys="y"
              about={(tombstone.text ?? erased).slice(0, 80)}
              busy={allow.isPending}
              onDecide={() => allow.mutate()}
            >
              Allow again
            </Decide>
          </div>
        )}
      </div>
    </Item>
  )
}

/** What was forgotten, was learned again, and was not stored. */
export function CameAgain() {
  const { page, options, setOffset, leaveEmptyPage } = usePaging()
  const list = useGet('/api/memory/tombstones', { query: { ...page, suppressed: true } }, options)
  leaveEmptyPage(list)
  const canAllow = useHasRight('write')
  return (
    <Section title="Came again" aside={!canAllow && <span className="text-sm text-muted">{missingRight.write}</span>}>
      <Results
        query={list}
        of="what came again"
        hideUnavailable
        onMove={setOffset}
        empty={
          <Empty title="Nothing came again">
            A fact or rule that you forgot is not stored again. When an agent or consolidation tries, it appears here,
            and you can allow it again.
          </Empty>
        }
      >
        {(rows) => (
          <ul aria-label="Came again" className="card overflow-hidden">
            {rows.map((tombstone) => (
              <Row key={tombstone.id} tombstone={tombstone} canAllow={canAllow} />
            ))}
          </ul>
        )}
      </Results>
    </Section>
  )
}
