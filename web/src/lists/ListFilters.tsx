import type { ReactNode } from 'react'
import { ButlerSelect } from '../ui/ButlerSelect'
import { Button } from '../ui/Button'

interface Filters {
  butler?: string | undefined
  scope?: string | undefined
  tag?: string | undefined
}

interface Props {
  search: Filters & Record<string, unknown>
  change: (change: Filters) => void
  clear: () => void
  children: ReactNode
}

/** The filters of a list: those that all lists have, and its own. */
export function ListFilters({ search, change, clear, children }: Props) {
  const used = Object.entries(search).some(([name, value]) => name !== 'q' && value !== undefined)
  return (
    <div className="grid grid-cols-2 items-center gap-2 max-sm:w-full sm:flex sm:flex-wrap">
      <ButlerSelect value={search.butler} onChange={(butler) => change({ butler })} />
      {children}
      {search.tag && <Chip label={`Tag: ${search.tag}`} onRemove={() => change({ tag: undefined })} />}
      {search.scope && <Chip label={`Scope: ${search.scope}`} onRemove={() => change({ scope: undefined })} />}
      {used && (
        <Button variant="ghost" size="small" onClick={clear}>
          Clear filters
        </Button>
      )}
    </div>
  )
}

function Chip({ label, onRemove }: { label: string; onRemove: () => void }) {
  return (
    <Button size="small" aria-label={`Remove the filter ${label}`} onClick={onRemove}>
      {label} <span aria-hidden="true">✕</span>
    </Button>
  )
}
