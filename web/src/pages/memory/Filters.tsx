import { capitalized, maturityLabel, statusLabel } from '../../lib/labels'
import { ButlerSelect } from '../../ui/ButlerSelect'
import { Button } from '../../ui/Button'
import { Select } from '../../ui/Select'
import { maturities, oneFrom, permanences, states, statuses } from '../search'
import type { Change, MemorySearch } from './Browser'

interface Props {
  kind: 'facts' | 'rules' | 'episodes'
  search: MemorySearch
  change: Change
}

const factStates: [string, string][] = [
  ['', 'Active and fading'],
  ['fading', '◌ Fading'],
  ['superseded', 'Superseded'],
  ['expired', 'Expired'],
  ['retracted', 'Retracted'],
  ['all', 'All states'],
]
const factOrders: [string, string][] = [
  ['', 'Newest first'],
  ['least_confident', 'Least confident first'],
  ['most_confident', 'Most confident first'],
  ['importance', 'Most important first'],
]
const ruleOrders: [string, string][] = [
  ['', 'Most mature first'],
  ['newest', 'Newest first'],
  ['most_effective', 'Most effective first'],
  ['least_effective', 'Least effective first'],
  ['most_applied', 'Most applied first'],
]
const confidences: [string, string][] = [
  ['', 'Any confidence'],
  ...['0.2', '0.5', '0.8'].map((at): [string, string] => [at, `At least ${at}`]),
]

export function Filters({ kind, search, change }: Props) {
  const used =
    search.butler ??
    search.validity ??
    search.permanence ??
    search.maturity ??
    search.status ??
    search.min ??
    search.scope ??
    search.sort
  return (
    <div className="mb-3 grid grid-cols-2 items-center gap-2 sm:flex sm:flex-wrap">
      <ButlerSelect value={search.butler} onChange={(butler) => change({ butler })} />
      {kind === 'facts' && (
        <>
          <Select
            label="State"
            value={search.validity ?? ''}
            options={factStates}
            onChange={(value) => change({ validity: oneFrom(states, value) })}
          />
          <Select
            label="Permanence"
            value={search.permanence ?? ''}
            options={[
              ['', 'Any permanence'],
              ...permanences.map((name): [string, string] => [name, capitalized(name)]),
            ]}
            onChange={(value) => change({ permanence: oneFrom(permanences, value) })}
          />
          <Select
            label="Minimum confidence"
            value={search.min?.toString() ?? ''}
            options={confidences}
            onChange={(value) => change({ min: value ? Number(value) : undefined })}
          />
          <Select
            label="Order"
            value={search.sort ?? ''}
            options={factOrders}
            onChange={(value) => change({ sort: value || undefined })}
          />
        </>
      )}
      {kind === 'rules' && (
        <>
          <Select
            label="Maturity"
            value={search.maturity ?? ''}
            options={[
              ['', 'Any maturity'],
              ...maturities.map((name): [string, string] => [name, maturityLabel[name] ?? name]),
            ]}
            onChange={(value) => change({ maturity: oneFrom(maturities, value) })}
          />
          <Select
            label="Order"
            value={search.sort ?? ''}
            options={ruleOrders}
            onChange={(value) => change({ sort: value || undefined })}
          />
        </>
      )}
      {kind === 'episodes' && (
        <Select
          label="Status"
          value={search.status ?? ''}
          options={[['', 'Any status'], ...statuses.map((name): [string, string] => [name, statusLabel[name] ?? name])]}
          onChange={(value) => change({ status: oneFrom(statuses, value) })}
        />
      )}
      {used !== undefined && (
        <Button
          variant="ghost"
          size="small"
          onClick={() =>
            change({
              butler: undefined,
              validity: undefined,
              permanence: undefined,
              maturity: undefined,
              status: undefined,
              min: undefined,
              scope: undefined,
              sort: undefined,
            })
          }
        >
          Clear filters
        </Button>
      )}
    </div>
  )
}
