import * as Radix from '@radix-ui/react-dialog'
import { useNavigate } from '@tanstack/react-router'
import { Command } from 'cmdk'
import { useState } from 'react'
import { asApiError } from '../api/error'
import { useGet } from '../api/hooks'
import { useOverviewButler } from '../api/overview-butler'
import { cx } from '../lib/cx'
import { capitalized, maturityLabel, statusLabel } from '../lib/labels'
import { fixed } from '../lib/number'
import { usePaused } from '../lib/paused'
import { recentVisits } from '../lib/recent'
import { Icon } from '../ui/Icon'
import { Kbd } from '../ui/Kbd'
import { pages } from './nav'
import { commonActions, type Entry, matches, pageActions } from './paletteEntries'

/** With more butlers, typing finds the others. */
const FIRST_BUTLERS = 5
const MOST_BUTLERS = 20
/** How long typing must pause before memories are searched, because a search by meaning for each letter is too slow. */
const PAUSE_MS = 120

const item = 'cursor-pointer gap-x-3 rounded-md px-3 py-2 data-[selected=true]:bg-sunken'

export interface PaletteProps {
  onClose: () => void
  onHelp: () => void
}

/** The command palette: searches all memories, entities, butlers, pages and actions. */
export default function Palette({ onClose, onHelp }: PaletteProps) {
  const [text, setText] = useState('')
  const typed = text.trim()
  const query = usePaused(typed, PAUSE_MS)
  const navigate = useNavigate()
  // if there are many butlers, query the chosen one: querying all takes longer than a person waits
  const { ready, butler } = useOverviewButler()
  const results = useGet(
    '/api/memory/search',
    { query: { q: query, butler } },
    { enabled: ready && query.length > 0, keepPrevious: true },
  )
  const hits = typed && query ? (results.data?.data ?? []) : []
  const butlers = useGet('/api/butlers')
  // read once: the buttons of the page are those from before the palette opened
  const [own] = useState(pageActions)
  const [visited] = useState(() => recentVisits().slice(1))
  function go(run: () => Promise<void>) {
    onClose()
    void run()
  }
  const href = (address: string) => go(() => navigate({ to: address }))
  const fits = (entry: Entry) => matches(`${entry.label} ${entry.hint ?? ''}`, typed)
  const recent = visited.map(
    ({ href: address, title }): Entry => ({ id: address, label: title, icon: 'timeline', run: () => href(address) }),
  )
  const named = (butlers.data?.data ?? []).map(
    ({ name, description }): Entry => ({
      id: name,
      label: name,
      hint: description ?? 'butler',
      icon: 'butler',
      run: () => go(() => navigate({ to: '/butlers/$name/memory', params: { name } })),
    }),
  )
  const questions: Entry[] = typed
    ? [
        {
          id: 'search',
          label: `Search everything for “${typed}”`,
          icon: 'recall',
          run: () => href(withQuery('/search')),
        },
        { id: 'ask', label: `Ask the recall lab “${typed}”`, icon: 'recall', run: () => href(withQuery('/recall')) },
      ]
    : []
  const withQuery = (path: string) => `${path}?${new URLSearchParams({ q: typed })}`
  const places = pages.map(({ to, label, hint, icon }): Entry => ({ id: to, label, hint, icon, run: () => href(to) }))
  const actions = [...own, ...commonActions(href, onHelp)]
  const groups: [heading: string, entries: Entry[]][] = [
    ['Recent', recent.filter(fits)],
    ['Actions', actions.filter(fits)],
    ['Butlers', typed ? named.filter(fits).slice(0, MOST_BUTLERS) : named.slice(0, FIRST_BUTLERS)],
    ['Pages', places.filter(fits)],
    ['Search', questions],
  ]
  function open(kind: string, id: string) {
    const params = { id }
    if (kind === 'fact') go(() => navigate({ to: '/memory/facts/$id', params }))
    else if (kind === 'rule') go(() => navigate({ to: '/memory/rules/$id', params }))
    else if (kind === 'episode') go(() => navigate({ to: '/memory/episodes/$id', params }))
    else go(() => navigate({ to: '/entities/$id', params }))
  }
  return (
    <Radix.Root open onOpenChange={(next) => !next && onClose()}>
      <Radix.Portal>
        <div aria-hidden="true" className="fixed inset-0 z-40 bg-backdrop" />
        <Radix.Content
          aria-describedby={undefined}
          className={cx(
            'fixed top-[10vh] left-1/2 z-50 w-[calc(100vw-2rem)] max-w-2xl -translate-x-1/2',
            'overflow-hidden rounded-xl border border-line bg-surface shadow-float',
          )}
        >
          <Radix.Title className="sr-only">Search memory</Radix.Title>
          <Command label="Search memory" shouldFilter={false} loop>
            <div className="flex items-center gap-3 border-b border-line px-4">
              <Icon name="recall" className="size-4 text-muted" />
              <Command.Input
                autoFocus
                value={text}
                onValueChange={setText}
                placeholder="Memories, actions, butlers, pages"
                className="h-12 min-w-0 flex-1 bg-transparent text-lg outline-none placeholder:text-muted"
              />
              <span className="hidden sm:block">
                <Kbd>Esc</Kbd>
              </span>
            </div>
            <Command.List
              className={cx(
                'max-h-[60vh] overflow-y-auto p-2',
                '[&_[cmdk-group-heading]]:px-3 [&_[cmdk-group-heading]]:py-1.5 [&_[cmdk-group-heading]]:text-xs',
                '[&_[cmdk-group-heading]]:font-medium [&_[cmdk-group-heading]]:text-muted',
              )}
            >
              {typed !== '' && hits.length === 0 && (
                <p role="status" className="px-3 py-2 text-sm text-muted">
                  {results.isError
                    ? `The search failed: ${asApiError(results.error).message}`
                    : results.isFetching || query !== typed
                      ? 'Searching…'
                      : 'No memory matches.'}
                </p>
              )}
              {hits.length > 0 && (
                <Command.Group heading={butler ? `Memory of ${butler}` : 'Memory'}>
                  {hits.map((hit) => (
                    <Command.Item
                      key={`${hit.kind}${hit.id}`}
                      value={`${hit.kind}${hit.id}`}
                      onSelect={() => open(hit.kind, hit.id)}
                      className={cx(
                        'grid grid-cols-[4rem_minmax(0,1fr)] items-center sm:grid-cols-[4rem_minmax(0,1fr)_auto]',
                        item,
                      )}
                    >
                      <span className="rounded-sm border border-line px-1 text-center text-xs text-muted">
                        {capitalized(hit.kind)}
                      </span>
                      {/* when the title is just the start of the preview, show it once */}
                      {hit.preview.startsWith(hit.title) && hit.preview !== '' ? (
                        <span className="line-clamp-2 min-w-0 font-serif break-words">{hit.preview}</span>
                      ) : (
                        <span className="min-w-0">
                          <span className="block truncate text-sm font-medium">{hit.title}</span>
                          {hit.preview && (
                            <span className="block truncate font-serif text-sm text-muted">{hit.preview}</span>
                          )}
                        </span>
                      )}
                      <span
                        className={cx(
                          'figure col-start-2 flex gap-x-2 text-xs text-muted',
                          'sm:col-start-3 sm:block sm:text-right',
                        )}
                      >
                        <span className="block">{hit.scope}</span>
                        <span className="block">
                          {hit.maturity
                            ? maturityLabel[hit.maturity]
                            : hit.status
                              ? statusLabel[hit.status]
                              : hit.effective_confidence != null
                                ? `confidence ${fixed(hit.effective_confidence)}`
                                : ''}
                        </span>
                      </span>
                    </Command.Item>
                  ))}
                </Command.Group>
              )}
              {groups.map(
                ([heading, entries]) =>
                  entries.length > 0 && (
                    <Command.Group key={heading} heading={heading}>
                      {entries.map((entry) => (
                        <Command.Item
                          key={entry.id}
                          value={`${heading} ${entry.id}`}
                          onSelect={() => {
                            onClose()
                            entry.run()
                          }}
                          className={`flex min-h-10 items-center sm:min-h-0 ${item}`}
                        >
                          <Icon name={entry.icon} className="size-4 text-muted" />
                          <span className="min-w-0 truncate">{entry.label}</span>
                          {entry.hint && <span className="truncate text-sm text-muted">{entry.hint}</span>}
                        </Command.Item>
                      ))}
                    </Command.Group>
                  ),
              )}
            </Command.List>
          </Command>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
