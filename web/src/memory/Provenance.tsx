import { useState } from 'react'
import { ProvenanceGraph } from '../charts/ProvenanceGraph'
import { Segments } from '../ui/Segments'
import { Time } from '../ui/Time'
import { KindBadge } from './badges'
import { type LinkRow, labelOf, relationLabel } from './links'
import { MemoryLink } from './MemoryLink'

function List({ links }: { links: LinkRow[] }) {
  return (
    <ul className="divide-y divide-line">
      {links.map((link) => (
        <li
          key={`${link.side}${link.relation}${link.id}`}
          data-row=""
          className="grid gap-x-4 gap-y-1 py-2.5 sm:grid-cols-[8rem_minmax(0,1fr)_auto] sm:items-baseline"
        >
          <span className="text-sm text-muted">{relationLabel(link)}</span>
          <span className="min-w-0">
            {link.label ? (
              <MemoryLink kind={link.memory_type} id={link.id} className="memory-text line-clamp-2 hover:underline">
                {link.label}
              </MemoryLink>
            ) : (
              <span className="text-muted italic">{labelOf(link)}</span>
            )}
          </span>
          <span className="flex items-center gap-3 text-sm text-muted">
            <KindBadge kind={link.memory_type} />
            <Time at={link.created_at} how="date" />
          </span>
        </li>
      ))}
    </ul>
  )
}

/** The links of a memory to its sources and results, as a graph or a list. */
export function Provenance({ kind, label, links }: { kind: string; label: string; links: LinkRow[] }) {
  const [view, setView] = useState<'graph' | 'list'>('graph')
  if (links.length === 0) {
    return <p className="text-muted">Stored directly: no episode or other memory is linked to it.</p>
  }
  return (
    <div>
      <div className="mb-3">
        <Segments
          label="Show provenance as"
          value={view}
          options={[
            ['graph', 'Graph'],
            ['list', 'List'],
          ]}
          onChange={setView}
        />
      </div>
      {view === 'graph' ? <ProvenanceGraph kind={kind} label={label} links={links} /> : <List links={links} />}
    </div>
  )
}
