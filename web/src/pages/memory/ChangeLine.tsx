import { cx } from '../../lib/cx'
import { capitalized } from '../../lib/labels'
import { ago } from '../../lib/time'
import { eventLabel, eventTone } from '../../memory/events'
import { MemoryLink } from '../../memory/MemoryLink'
import type { Change } from './week'

/** One change in one line: what it is about, what it says now and what it said before. */
export function ChangeLine({ change }: { change: Change }) {
  const [glyph, label] = eventLabel(change.event)
  return (
    <li data-row="" className="relative flex items-baseline gap-2 px-4 py-1.5 hover:bg-sunken">
      <span aria-hidden="true" title={label} className={cx('w-4 shrink-0 text-center', eventTone(change.event))}>
        {glyph}
      </span>
      <span className="sr-only">{label}: </span>
      <MemoryLink
        kind={change.memory_type}
        id={change.id}
        className="min-w-0 flex-1 truncate after:absolute after:inset-0"
      >
        {change.name && <span className="text-sm font-medium">{change.name} </span>}
        {change.predicate && <span className="text-sm text-muted">{capitalized(change.predicate).toLowerCase()} </span>}
        {change.content ? (
          <span className="font-serif">{change.content}</span>
        ) : (
          <span className="text-muted">
            {change.memory_type} {change.section}
          </span>
        )}
        {change.before && <span className="font-serif text-muted"> · before: {change.before}</span>}
      </MemoryLink>
      <time dateTime={change.at} className="shrink-0 text-xs text-muted">
        {ago(change.at)}
      </time>
    </li>
  )
}
