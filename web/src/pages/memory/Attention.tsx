import { Link } from '@tanstack/react-router'
import type { Attention as Item } from '../../api/schema'
import { parseSearch } from '../../lib/search'
import { Icon } from '../../ui/Icon'
import { Section } from '../../ui/Section'

const glyph: Record<string, [glyph: string, tone: string, word: string]> = {
  high: ['✕', 'text-harm', 'Urgent'],
  medium: ['△', 'text-fading', 'Soon'],
  low: ['○', 'text-muted', 'Worth a look'],
}

const fading: [string, string, string] = ['◌', 'text-fading', 'Worth a look']

/** What a person should look at, most urgent first; nothing is said when nothing is wrong. */
export function Attention({ items }: { items: Item[] }) {
  const shown = items.filter((item) => item.what !== 'butler_unavailable')
  if (shown.length === 0) return null
  return (
    <Section title="Needs attention">
      <ul className="card divide-y divide-line overflow-hidden">
        {shown.map((item) => {
          const [mark, tone, word] = (item.what === 'fading' ? fading : glyph[item.severity]) ?? ['○', 'text-muted', '']
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
                  <span className="sr-only">{word}: </span>
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
