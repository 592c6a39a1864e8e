import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'
import { useGet } from '../../api/hooks'
import { counted } from '../../lib/number'
import { Page } from '../../ui/Page'
import { SearchField } from '../../ui/SearchField'
import { Section } from '../../ui/Section'
import { Failure } from '../../ui/states'
import { EpisodeStream } from './EpisodeStream'
import { FactCards } from './FactCards'
import { Playbook } from './Playbook'

export default function ButlerPage() {
  const { name } = useParams({ from: '/butlers/$name/memory' })
  const search = useSearch({ from: '/butlers/$name/memory' })
  const navigate = useNavigate({ from: '/butlers/$name/memory' })
  const stats = useGet('/api/butlers/{name}/memory/stats', { path: { name } })
  const setQuery = useCallback(
    (q: string) =>
      void navigate({ search: (previous) => ({ ...previous, q: q || undefined, offset: undefined }), replace: true }),
    [navigate],
  )
  const figures = stats.data?.data
  return (
    <Page
      title={name}
      tab={`${name}’s memory`}
      lead={
        figures
          ? [
              `${counted(figures.facts.known, 'fact')},`,
              `${counted(figures.rules.known, 'rule')} and`,
              `${counted(figures.episodes.total, 'episode')} in this butler’s memory.`,
            ].join(' ')
          : 'This butler’s memory.'
      }
    >
      {stats.isError ? (
        <Failure error={stats.error} retry={() => void stats.refetch()} />
      ) : (
        <div className="grid gap-x-8 gap-y-10 xl:grid-cols-[minmax(0,1.5fr)_minmax(0,1fr)]">
          <Section
            title="Facts"
            aside={
              <SearchField
                label="Search this butler’s facts"
                placeholder="Search facts"
                value={search.q ?? ''}
                onChange={setQuery}
                className="w-full sm:w-64"
              />
            }
          >
            <FactCards
              name={name}
              q={search.q}
              offset={search.offset}
              onMove={(offset) =>
                void navigate({ search: (previous) => ({ ...previous, offset: offset || undefined }) })
              }
            />
          </Section>
          <div className="min-w-0 space-y-10">
            <Section title="Playbook" aside={<span className="text-xs text-muted">effectiveness of each rule</span>}>
              <Playbook name={name} />
            </Section>
            <Section title="Episode stream">
              <EpisodeStream name={name} />
            </Section>
          </div>
        </div>
      )}
    </Page>
  )
}
