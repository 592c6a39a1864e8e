import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'
import { getOptions } from '../../api/hooks'
import { useListButler } from '../../api/list-butler'
import { useHasRight } from '../../api/rights'
import { capitalized } from '../../lib/labels'
import { ListFilters } from '../../lists/ListFilters'
import { VirtualList } from '../../lists/VirtualList'
import { NothingFound } from '../../ui/NothingFound'
import { Page } from '../../ui/Page'
import { Select } from '../../ui/Select'
import { Loading } from '../../ui/states'
import { factSorts, type facts, oneFrom, permanences, states } from '../search'
import { FactRow } from './FactRow'

const stateOptions: [string, string][] = [
  ['', 'Active and fading'],
  ['fading', '◌ Fading'],
  ['superseded', 'Superseded'],
  ['expired', 'Expired'],
  ['retracted', 'Retracted'],
  ['all', 'All states'],
]
const orders: [string, string][] = [
  ['newest', 'Newest first'],
  ['least_confident', 'Least confident first'],
  ['most_confident', 'Most confident first'],
  ['importance', 'Most important first'],
  ['subject', 'By subject'],
]
const confidences: [string, string][] = [
  ['', 'Any confidence'],
  ...['0.2', '0.5', '0.8'].map((at): [string, string] => [at, `At least ${at}`]),
]
const noFilters = {
  butler: undefined,
  scope: undefined,
  validity: undefined,
  permanence: undefined,
  min: undefined,
  tag: undefined,
  sort: undefined,
}

export default function FactsPage() {
  const search = useSearch({ from: '/facts' })
  const navigate = useNavigate({ from: '/facts' })
  const canWrite = useHasRight('write')
  const change = useCallback(
    (next: ReturnType<typeof facts>) =>
      void navigate({ search: (previous) => ({ ...previous, ...next }), replace: true }),
    [navigate],
  )
  const shown = useListButler(search.butler, (butler) => change({ butler }))
  const usual = search.q ? 'best' : 'newest'
  const sort = oneFrom(factSorts, search.sort ?? '') ?? usual
  const query = {
    q: search.q,
    butler: shown.butler,
    scope: search.scope,
    validity: search.validity,
    permanence: search.permanence,
    min_confidence: search.min,
    tag: search.tag,
    sort,
  }
  return (
    <Page title="Facts">
      <ListFilters
        label="Search facts"
        search={search}
        shown={shown}
        change={change}
        clear={() => change(noFilters)}
        order={{ value: sort, usual, options: orders }}
      >
        <Select
          label="State"
          value={search.validity ?? ''}
          options={stateOptions}
          onChange={(value) => change({ validity: oneFrom(states, value) })}
        />
        <Select
          label="Permanence"
          value={search.permanence ?? ''}
          options={[['', 'Any permanence'], ...permanences.map((name): [string, string] => [name, capitalized(name)])]}
          onChange={(value) => change({ permanence: oneFrom(permanences, value) })}
        />
        <Select
          label="Minimum confidence"
          value={search.min?.toString() ?? ''}
          options={confidences}
          onChange={(value) => change({ min: value ? Number(value) : undefined })}
        />
      </ListFilters>
      {shown.ready ? (
        <VirtualList
          load={(page) => getOptions('/api/memory/facts', { query: { ...query, ...page } })}
          label={(fact) => `${fact.subject} ${fact.predicate}`}
          kind="fact"
          ranked={sort === 'best'}
          canSelect={canWrite}
          empty={<NothingFound what="facts" butler={shown.only} />}
        >
          {(fact, look) => <FactRow fact={fact} {...look} />}
        </VirtualList>
      ) : (
        <Loading rows={10} />
      )}
    </Page>
  )
}
