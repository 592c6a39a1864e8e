import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'
import { SearchField } from '../../ui/SearchField'
import { Section } from '../../ui/Section'
import { Segments } from '../../ui/Segments'
import type { memory } from '../search'
import { EpisodeResults } from './EpisodeResults'
import { FactResults } from './FactResults'
import { Filters } from './Filters'
import { RuleResults } from './RuleResults'

export type MemorySearch = ReturnType<typeof memory>
export type Change = (change: MemorySearch) => void

interface Props {
  counts: { facts: number; rules: number; episodes: number }
}

/** Searches and filters facts, rules or episodes; each kind has its own list. */
export function Browser({ counts }: Props) {
  const search = useSearch({ from: '/memory' })
  const navigate = useNavigate({ from: '/memory' })
  const kind = search.kind ?? 'facts'
  const change: Change = useCallback(
    (next) =>
      void navigate({
        search: (previous) => ({ ...previous, offset: undefined, ...next }),
        replace: true,
        resetScroll: false,
      }),
    [navigate],
  )
  const setQuery = useCallback((q: string) => change({ q: q || undefined }), [change])
  return (
    <Section title="Knowledge">
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <SearchField
          label="Search knowledge"
          placeholder="Search facts, rules and episodes"
          value={search.q ?? ''}
          onChange={setQuery}
          className="min-w-0 flex-1 basis-64"
        />
        <Segments
          label="Kind of memory"
          value={kind}
          options={[
            ['facts', 'Facts', counts.facts],
            ['rules', 'Rules', counts.rules],
            ['episodes', 'Episodes', counts.episodes],
          ]}
          onChange={(next) => change({ kind: next === 'facts' ? undefined : next, sort: undefined })}
        />
      </div>
      <Filters kind={kind} search={search} change={change} />
      {kind === 'facts' && <FactResults search={search} change={change} />}
      {kind === 'rules' && <RuleResults search={search} change={change} />}
      {kind === 'episodes' && <EpisodeResults search={search} change={change} />}
    </Section>
  )
}
