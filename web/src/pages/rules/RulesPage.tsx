import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'
import { getOptions } from '../../api/hooks'
import { useListButler } from '../../api/list-butler'
import { useHasRight } from '../../api/rights'
import { maturityLabel } from '../../lib/labels'
import { ListFilters } from '../../lists/ListFilters'
import { VirtualList } from '../../lists/VirtualList'
import { NothingFound } from '../../ui/NothingFound'
import { Page } from '../../ui/Page'
import { Select } from '../../ui/Select'
import { Loading } from '../../ui/states'
import { maturities, oneFrom, ruleSorts, ruleStates, type rules } from '../search'
import { RuleRow } from './RuleRow'

const stateOptions: [string, string][] = [
  ['', 'Active and fading'],
  ['fading', '◌ Fading'],
  ['forgotten', 'Forgotten'],
  ['all', 'All states'],
]
const orders: [string, string][] = [
  ['maturity', 'Most mature first'],
  ['newest', 'Newest first'],
  ['most_effective', 'Most effective first'],
  ['least_effective', 'Least effective first'],
  ['most_applied', 'Most applied first'],
]
const noFilters = {
  butler: undefined,
  scope: undefined,
  state: undefined,
  maturity: undefined,
  tag: undefined,
  sort: undefined,
}

export default function RulesPage() {
  const search = useSearch({ from: '/rules' })
  const navigate = useNavigate({ from: '/rules' })
  const canWrite = useHasRight('write')
  const change = useCallback(
    (next: ReturnType<typeof rules>) =>
      void navigate({ search: (previous) => ({ ...previous, ...next }), replace: true }),
    [navigate],
  )
  const shown = useListButler(search.butler, (butler) => change({ butler }))
  const usual = search.q ? 'best' : 'maturity'
  const sort = oneFrom(ruleSorts, search.sort ?? '') ?? usual
  const query = {
    q: search.q,
    butler: shown.butler,
    scope: search.scope,
    state: search.state,
    maturity: search.maturity,
    tag: search.tag,
    sort,
  }
  return (
    <Page title="Rules">
      <ListFilters
        label="Search rules"
        search={search}
        shown={shown}
        change={change}
        clear={() => change(noFilters)}
        order={{ value: sort, usual, options: orders }}
      >
        <Select
          label="State"
          value={search.state ?? ''}
          options={stateOptions}
          onChange={(value) => change({ state: oneFrom(ruleStates, value) })}
        />
        <Select
          label="Maturity"
          value={search.maturity ?? ''}
          options={[
            ['', 'Any maturity'],
            ...maturities.map((name): [string, string] => [name, maturityLabel[name] ?? name]),
          ]}
          onChange={(value) => change({ maturity: oneFrom(maturities, value) })}
        />
      </ListFilters>
      {shown.ready ? (
        <VirtualList
          load={(page) => getOptions('/api/memory/rules', { query: { ...query, ...page } })}
          label={(rule) => rule.content.slice(0, 60)}
          kind="rule"
          ranked={sort === 'best'}
          canSelect={canWrite}
          empty={<NothingFound what="rules" butler={shown.only} />}
        >
          {(rule, look) => <RuleRow rule={rule} {...look} />}
        </VirtualList>
      ) : (
        <Loading rows={10} />
      )}
    </Page>
  )
}
