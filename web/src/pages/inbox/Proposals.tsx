import { useGet } from '../../api/hooks'
import { missingRight, useHasRight } from '../../api/rights'
import type { ProposalAt } from '../../api/schema'
import { capitalized } from '../../lib/labels'
import { KindBadge, SourceBadge } from '../../memory/badges'
import { actorName } from '../../memory/events'
import { MemoryLink } from '../../memory/MemoryLink'
import { Results } from '../../ui/Results'
import { Section } from '../../ui/Section'
import { Empty } from '../../ui/states'
import { Time } from '../../ui/Time'
import { Decide, Item } from './Item'
import { reasonLabel } from './labels'
import { useApprove, useReject } from './useDecisions'
import { usePaging } from './usePaging'

/** What in the text looks like an instruction, with the passage. */
function Reasons({ proposal }: { proposal: ProposalAt }) {
  if (proposal.reasons.length === 0) return null
  return (
    <ul aria-label="Warnings" className="mt-2 space-y-1 text-sm">
      {proposal.reasons.map(({ kind, excerpt }) => (
        <li key={kind + excerpt} className="break-words">
          <span className="font-medium text-harm">⚠ {reasonLabel[kind] ?? capitalized(kind)}:</span>{' '}
          <q className="font-serif">{excerpt}</q>
        </li>
      ))}
    </ul>
  )
}

/** Who proposed it, from what, and what it would replace. */
function Origin({ proposal }: { proposal: ProposalAt }) {
  return (
    <p className="mt-2 flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted">
      <KindBadge kind={proposal.memory_type} />
      <SourceBadge source={proposal.source} />
      {proposal.proposed_by && <bdi className="break-all">{actorName(proposal.proposed_by)}</bdi>}
      <Time at={proposal.created_at} />
      {proposal.memory_type === 'episode' && (
        <MemoryLink kind="episode" id={proposal.id}>
          Open the episode
        </MemoryLink>
      )}
      {proposal.episode_ids.map((id, index) => (
        <MemoryLink key={id} kind="episode" id={id}>
          {proposal.episode_ids.length === 1 ? 'Its episode' : `Episode ${index + 1}`}
        </MemoryLink>
      ))}
      {proposal.replaces && (
        <MemoryLink kind="fact" id={proposal.replaces}>
          The fact it replaces
        </MemoryLink>
      )}
    </p>
  )
}

function Row({ proposal, canDecide }: { proposal: ProposalAt; canDecide: boolean }) {
  const approve = useApprove(proposal)
  const reject = useReject(proposal)
  const busy = approve.isPending || reject.isPending
  const about = proposal.content.slice(0, 80)
  return (
    <Item>
      <div className="grid gap-x-6 gap-y-3 md:grid-cols-[minmax(0,1fr)_auto]">
        <div className="min-w-0">
          {proposal.subject && (
            <p className="flex min-w-0 flex-wrap items-baseline gap-x-2 text-sm text-muted">
              <bdi className="font-medium break-all text-ink">{proposal.subject}</bdi>
              <bdi className="break-all">{capitalized(proposal.predicate ?? '').toLowerCase()}</bdi>
            </p>
          )}
          <p className="memory-text text-lg">{proposal.content}</p>
          <Reasons proposal={proposal} />
          <Origin proposal={proposal} />
        </div>
        {canDecide && (
          <div className="flex flex-wrap items-start gap-2">
            <Decide keys="y" about={about} busy={busy} onDecide={() => approve.mutate()}>
              Approve
            </Decide>
            <Decide keys="n" about={about} variant="danger" busy={busy} onDecide={() => reject.mutate()}>
              Reject
            </Decide>
          </div>
        )}
      </div>
    </Item>
  )
}

/** Facts and rules from untrusted text, and episodes that look like instructions. */
export function Proposals() {
  const { page, options, setOffset, leaveEmptyPage } = usePaging()
  const list = useGet('/api/memory/proposals', { query: page }, options)
  leaveEmptyPage(list)
  const canDecide = useHasRight('admin')
  return (
    <Section title="Proposals" aside={!canDecide && <span className="text-sm text-muted">{missingRight.admin}</span>}>
      <Results
        query={list}
        of="proposals"
        onMove={setOffset}
        empty={
          <Empty title="No proposals">
            A fact or rule learned from untrusted text, such as a web page or the output of a tool, waits here for your
            approval. So does an untrusted episode that looks like instructions to the agent.
          </Empty>
        }
      >
        {(rows) => (
          <ul aria-label="Proposals" className="card overflow-hidden">
            {rows.map((proposal) => (
              <Row key={proposal.id} proposal={proposal} canDecide={canDecide} />
            ))}
          </ul>
        )}
      </Results>
    </Section>
  )
}
