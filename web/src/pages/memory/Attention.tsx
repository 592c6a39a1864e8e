import { Link } from '@tanstack/react-router'
import type { Attention as Item } from '../../api/schema'
import { parseSearch } from '../../lib/search'
import { Icon } from '../../ui/Icon'
import { Section } from '../../ui/Section'

const severities: Record<string, [glyph: string, tone: string, label: string]> = {
  high: ['✕', 'text-harm', 'High priority'],
  medium: ['△', 'text-fading', 'Medium priority'],
  low: ['○', 'text-muted', 'Low priority'],
}

const fading: [string, string, string] = ['◌', 'text-fading', 'Low priority']

/** Issues that need a person, most urgent first. Renders nothing when there are none. */
export function Attention({ items }: { items: Item[] }) {
  const shown = items.filter((item) => item.what !== 'butler_unavailable')
  if (shown.length === 0) return null
  return (
    <Section title="Needs attention">
      <ul className="card divide-y divide-line overflow-hidden">
        {shown.map((item) => {
          const [mark, tone, label] = (item.what === 'fading' ? fading : severities[item.severity]) ?? [
            '○',
            'text-muted',
            '',
          ]
          const [path = '/memory', query = ''] = item.page.split('?')
          return (
            <li key={item.what}>
              <Link
                to={path}
                search={parseSearch(query)}
                className="group flex min-h-10 items-center gap-3 px-4 py-2 hover:bg-sunken"
              >
                <span className={`w-4 text-center ${tone}`}>
                  <span aria-hidden="true">{mark}</span>
                  <span className="sr-only">{label}: </span>
                </span>
                <span className="min-w-0 flex-1 break-words first-letter:uppercase group-hover:underline">
                  {item.message}
                </span>
                <Icon name="next" className="size-3.5 text-muted" />
              </Link>
            </li>
          )
        })}
      </ul>
    </Section>
  )
}
