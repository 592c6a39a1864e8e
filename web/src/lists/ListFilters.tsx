import { type ReactNode, useCallback } from 'react'
import { ButlerSelect } from '../ui/ButlerSelect'
import { Button } from '../ui/Button'
import { SearchField } from '../ui/SearchField'
import { Select } from '../ui/Select'

/** What every list keeps in its URL. */
interface Filters {
  q?: string | undefined
  butler?: string | undefined
  scope?: string | undefined
  tag?: string | undefined
  sort?: string | undefined
}

interface Props {
  /** What is searched: `Search facts`. */
  label: string
  search: Filters & Record<string, unknown>
  /** The butler that is shown, and how to show another. */
  shown: { butler: string | undefined; choose: (butler: string | undefined) => void }
  change: (change: Filters) => void
  clear: () => void
  /** The order in effect, the one without a choice, and all orders but the best match. */
  order: { value: string; usual: string; options: [string, string][] }
  children: ReactNode
}

/** The search field of a list, the filters that all lists have, its own, and its order. */
export function ListFilters({ label, search, shown, change, clear, order, children }: Props) {
  const used = Object.entries(search).some(([name, value]) => name !== 'q' && value !== undefined)
  const setQuery = useCallback((q: string) => change({ q: q || undefined }), [change])
  return (
    <div className="mb-2 flex flex-wrap items-center gap-2">
      <SearchField
        label={label}
        placeholder="Search by words or meaning"
        value={search.q ?? ''}
        onChange={setQuery}
        className="min-w-0 flex-1 basis-64"
      />
      <div className="grid grid-cols-2 items-center gap-2 max-sm:w-full sm:flex sm:flex-wrap">
        <ButlerSelect value={shown.butler} onChange={shown.choose} />
        {children}
        <Select
          label="Order"
          value={order.value}
          options={search.q ? [['best', 'Best match first'], ...order.options] : order.options}
          onChange={(value) => change({ sort: value === order.usual ? undefined : value })}
        />
        {search.tag && <Chip label={`Tag: ${search.tag}`} onRemove={() => change({ tag: undefined })} />}
        {search.scope && <Chip label={`Scope: ${search.scope}`} onRemove={() => change({ scope: undefined })} />}
        {used && (
          <Button variant="ghost" size="small" onClick={clear}>
            Clear filters
          </Button>
        )}
      </div>
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
