import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'
import { useGet } from '../../api/hooks'
import { useListButler } from '../../api/list-butler'
import { capitalized, maturityLabel, statusLabel } from '../../lib/labels'
import { fixed } from '../../lib/number'
import { RowMenu } from '../../lists/RowMenu'
import { MemoryLink } from '../../memory/MemoryLink'
import { ButlerSelect } from '../../ui/ButlerSelect'
import { NothingFound } from '../../ui/NothingFound'
import { Page } from '../../ui/Page'
import { SearchField } from '../../ui/SearchField'
import { Segments } from '../../ui/Segments'
import { Empty, Failure, Loading } from '../../ui/states'
import { Unavailable } from '../../ui/Unavailable'
import { eventKinds, oneFrom } from '../search'

const MOST = 100

/** One search over facts, rules, episodes and entities, the best match first. */
export default function SearchPage() {
  const { q = '', kind, butler } = useSearch({ from: '/search' })
  const navigate = useNavigate({ from: '/search' })
  const setQuery = useCallback(
    (text: string) =>
      void navigate({
        search: (previous) => ({ ...previous, q: text || undefined }),
        replace: true,
        resetScroll: false,
      }),
    [navigate],
  )
  const shown = useListButler(
    butler,
    (next) => void navigate({ search: (previous) => ({ ...previous, butler: next }), replace: true }),
  )
  const query = { q, butler: shown.butler, sort: 'best', limit: MOST } as const
  const results = useGet('/api/memory/search', { query }, { enabled: shown.ready && q !== '', keepPrevious: true })
  const all = q === '' ? [] : (results.data?.data ?? [])
  const listed = all.filter((item) => !kind || item.kind === kind)
  const number = (name: string) => all.filter((item) => item.kind === name).length
  return (
    <Page title="Search">
      <div className="mb-4 flex flex-wrap items-center gap-2">
        <SearchField
          label="Search everything"
          placeholder="Words, a name, or what it is about"
          value={q}
          onChange={setQuery}
          className="min-w-0 flex-1 basis-64"
        />
        {shown.many && <ButlerSelect value={shown.butler} onChange={shown.choose} />}
        <Segments
          label="Kind of result"
          value={kind ?? 'all'}
          options={[
            ['all', 'All', all.length],
            ['fact', 'Facts', number('fact')],
            ['rule', 'Rules', number('rule')],
            ['episode', 'Episodes', number('episode')],
            ['entity', 'Entities', number('entity')],
          ]}
          onChange={(next) =>
            void navigate({
              search: (previous) => ({ ...previous, kind: oneFrom(eventKinds, next) }),
              replace: true,
              resetScroll: false,
            })
          }
        />
      </div>
      <Unavailable butlers={results.data?.meta.unavailable} />
      {q === '' ? (
        <Empty title="Search everything">
          Type words, a name as you remember it, or what it is about. Misspelled words and missing accents are found
          too.
        </Empty>
      ) : results.isError && !results.data ? (
        <Failure error={results.error} retry={() => void results.refetch()} />
      ) : results.isPending ? (
        <Loading rows={8} />
      ) : listed.length === 0 ? (
        shown.only ? (
          <NothingFound what="memories" butler={shown.only} />
        ) : (
          <Empty title="Nothing found">Try other words.</Empty>
        )
      ) : (
        <ol aria-label="Results" className="card divide-y divide-line overflow-hidden">
          {listed.map((item) => (
            <li key={item.id} data-row="" className="relative flex items-center gap-3 px-4 py-2 hover:bg-sunken">
              <span className="w-16 shrink-0 rounded-sm border border-line px-1 text-center text-xs text-muted">
                {capitalized(item.kind)}
              </span>
              <span className="min-w-0 flex-1">
                <MemoryLink kind={item.kind} id={item.id} className="block sm:truncate after:absolute after:inset-0">
                  {item.kind === 'fact' || item.kind === 'entity' ? (
                    <>
                      <span className="font-medium max-sm:block max-sm:truncate">{item.title}</span>{' '}
                      <span className="font-serif text-muted max-sm:block max-sm:truncate">{item.preview}</span>
                    </>
                  ) : (
                    <span className="font-serif max-sm:line-clamp-2">{item.preview}</span>
                  )}
                </MemoryLink>
              </span>
              <span className="figure shrink-0 text-right text-xs text-muted max-sm:hidden">
                {item.scope}
                {item.maturity && ` · ${maturityLabel[item.maturity] ?? item.maturity}`}
                {item.status && ` · ${statusLabel[item.status] ?? item.status}`}
                {item.effective_confidence != null && ` · confidence ${fixed(item.effective_confidence)}`}
              </span>
              {(item.kind === 'fact' || item.kind === 'rule') && (
                <span className="md:hidden">
                  <RowMenu kind={item.kind} id={item.id} label={item.title} content={item.preview} complete={false} />
                </span>
              )}
            </li>
          ))}
        </ol>
      )}
    </Page>
  )
}
