import * as Radix from '@radix-ui/react-dialog'
import { useNavigate } from '@tanstack/react-router'
import { Command } from 'cmdk'
import { useDeferredValue, useState } from 'react'
import { asApiError } from '../api/error'
import { useGet } from '../api/hooks'
import { cx } from '../lib/cx'
import { capitalized, maturityLabel, statusLabel } from '../lib/labels'
import { fixed } from '../lib/number'
import { Icon } from '../ui/Icon'
import { Kbd } from '../ui/Kbd'
import { pages } from './nav'

const item = 'cursor-pointer gap-x-3 rounded-md px-3 py-2 data-[selected=true]:bg-sunken'

/** The command palette (Cmd+K): searches all memories, entities and pages. */
export default function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('')
  const query = useDeferredValue(text.trim())
  const navigate = useNavigate()
  const results = useGet(
    '/api/memory/search',
    { query: { q: query } },
    { enabled: query.length > 0, keepPrevious: true },
  )
  const hits = query.length > 0 ? (results.data?.data ?? []) : []
  const shownPages = pages.filter((page) =>
    `${page.label} ${page.hint}`.toLowerCase().includes(text.trim().toLowerCase()),
  )
  function go(run: () => Promise<void>) {
    onClose()
    void run()
  }
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
                placeholder="Facts, rules, episodes, entities, pages"
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
              <Command.Empty className="px-3 py-8 text-center text-muted">
                {results.isFetching
                  ? 'Searching…'
                  : results.isError
                    ? `The search failed: ${asApiError(results.error).message}`
                    : 'No results.'}
              </Command.Empty>
              {hits.length > 0 && (
                <Command.Group heading="Memory">
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
                              : hit.confidence != null
                                ? `confidence ${fixed(hit.confidence)}`
                                : ''}
                        </span>
                      </span>
                    </Command.Item>
                  ))}
                </Command.Group>
              )}
              {shownPages.length > 0 && (
                <Command.Group heading="Pages">
                  {shownPages.map((page) => (
                    <Command.Item
                      key={page.to}
                      value={page.to}
                      onSelect={() => go(() => navigate({ to: page.to }))}
                      className={`flex min-h-10 items-center sm:min-h-0 ${item}`}
                    >
                      <Icon name={page.icon} className="size-4 text-muted" />
                      <span>{page.label}</span>
                      <span className="text-sm text-muted">{page.hint}</span>
                    </Command.Item>
                  ))}
                </Command.Group>
              )}
            </Command.List>
          </Command>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
