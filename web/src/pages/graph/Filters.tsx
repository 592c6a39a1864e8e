import { useGet } from '../../api/hooks'
import { capitalized } from '../../lib/labels'
import { count } from '../../lib/number'
import { Button } from '../../ui/Button'
import { DateField } from '../../ui/DateField'
import { Select } from '../../ui/Select'
import type { graph } from '../search'

type Search = ReturnType<typeof graph>

interface Props {
  search: Search
  /** The butler whose graph is shown. */
  home: string | undefined
  predicates: { predicate: string; edges: number }[]
  onChange: (next: Search) => void
}

/** Filters by predicate and time. A graph belongs to one butler, because entities do. */
export function Filters({ search, home, predicates, onChange }: Props) {
  const butlers = useGet('/api/butlers')
  const names = (butlers.data?.data ?? []).map((butler) => butler.name)
  // the chosen predicate may have no relation at another time
  const missing = search.predicate && !predicates.some(({ predicate }) => predicate === search.predicate)
  const offered = missing ? [...predicates, { predicate: search.predicate ?? '', edges: 0 }] : predicates
  return (
    <div className="mb-4 flex flex-wrap items-center gap-2">
      {names.length > 1 && (
        <Select
          label="Butler"
          value={search.butler ?? home ?? ''}
          options={names.map((name) => [name, name])}
          onChange={(butler) => onChange({ butler, entity: undefined, predicate: undefined })}
        />
      )}
      <Select
        label="Predicate"
        value={search.predicate ?? ''}
        options={[
          ['', 'All predicates'],
          ...offered.map(({ predicate, edges }): [string, string] => [
            predicate,
            `${capitalized(predicate)} (${count(edges)})`,
          ]),
        ]}
        onChange={(predicate) => onChange({ predicate: predicate || undefined })}
        className="max-w-full"
      />
      <DateField label="Learned until" value={search.until} onChange={(until) => onChange({ until })} />
      {(search.predicate || search.until) && (
        <Button variant="ghost" onClick={() => onChange({ predicate: undefined, until: undefined })}>
          Clear filters
        </Button>
      )}
    </div>
  )
}
