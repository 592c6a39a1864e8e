import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Attention as Item } from '../../api/schema'
import { useInboxCounts } from '../../api/waiting'
import { counted } from '../../lib/number'
import { parseSearch } from '../../lib/search'
import { Button, buttonClass } from '../../ui/Button'
import { Section } from '../../ui/Section'

type Look = [glyph: string, tone: string, label: string]
const severities: Record<string, Look> = {
  high: ['✕', 'text-harm', 'High priority'],
  medium: ['△', 'text-fading', 'Medium priority'],
  low: ['○', 'text-muted', 'Low priority'],
}
const fading: Look = ['◌', 'text-fading', 'Low priority']

/** What to do about each problem, by its name in the API. */
const actions: Record<string, string> = {
  clock: 'Check the clock',
  consolidation_failed: 'See the job',
  dead_letters: 'Requeue',
  expiring_facts: 'Confirm',
  expiring_unlearned: 'See them',
  fading: 'Review',
  no_runtime: 'Set up an LLM',
  proposals: 'Decide',
  conflicts: 'Resolve',
}

/** The overview fits one screen. */
const FIRST = 4

/** What waits in the inbox, in the form of the other items. */
function useInbox(): Item[] {
  const { proposals, conflicts } = useInboxCounts()
  const item = (what: string, count: number, message: string): Item[] =>
    count > 0 ? [{ what, count, message, severity: 'medium', page: '/inbox' }] : []
  return [
    ...item('conflicts', conflicts, `${counted(conflicts, 'conflict')} between memories`),
    ...item('proposals', proposals, `${counted(proposals, 'proposal')} from untrusted text`),
  ]
}

/** Issues that need a person, most urgent first, each with one action. */
export function Attention({ items, butler }: { items: Item[]; butler: string | undefined }) {
  const inbox = useInbox()
  const shown = [...items.filter((item) => item.what !== 'butler_unavailable'), ...inbox]
  const [all, setAll] = useState(false)
  const rank = (item: Item) => Object.keys(severities).indexOf(item.severity)
  return (
    <Section
      title="Needs attention"
      quiet
      aside={
        shown.length > FIRST && !all ? (
          <Button size="small" variant="ghost" onClick={() => setAll(true)}>
            Show all {shown.length}
          </Button>
        ) : undefined
      }
    >
      {shown.length === 0 ? (
        <p className="text-sm text-muted">Nothing needs attention.</p>
      ) : (
        <ul aria-label="Needs attention" className="card divide-y divide-line overflow-hidden">
          {shown
            .toSorted((a, b) => rank(a) - rank(b))
            .slice(0, all ? undefined : FIRST)
            .map((item) => {
              const [mark, tone, label] = (item.what === 'fading' ? fading : severities[item.severity]) ?? fading
              const [path = '/memory', query = ''] = item.page.split('?')
              return (
                <li key={item.what} className="flex items-center gap-2 px-4 py-1">
                  <span className={`w-4 text-center ${tone}`}>
                    <span aria-hidden="true">{mark}</span>
                    <span className="sr-only">{label}: </span>
                  </span>
                  <span
                    className="line-clamp-2 min-w-0 flex-1 text-sm break-words first-letter:uppercase"
                    title={item.message}
                  >
                    {item.message}
                  </span>
                  <Link
                    to={path}
                    search={{ ...parseSearch(query), ...(path === '/inbox' ? {} : { butler }) }}
                    className={buttonClass('ghost', 'small')}
                  >
                    {actions[item.what] ?? 'See them'}
                    <span className="sr-only">: {item.message}</span>
                  </Link>
                </li>
              )
            })}
        </ul>
      )}
    </Section>
  )
}
