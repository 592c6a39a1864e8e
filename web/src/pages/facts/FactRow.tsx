import { Link } from '@tanstack/react-router'
import { cx } from '../../lib/cx'
import { validityText } from '../../lib/dates'
import { capitalized } from '../../lib/labels'
import { RowMenu } from '../../lists/RowMenu'
import type { RowLook } from '../../lists/Rows'
import { StateBadge } from '../../memory/badges'
import { confidenceReason, confidenceText } from '../../memory/confidence'
import { RowActions } from '../../memory/RowActions'
import type { FactRow as Row } from '../../memory/types'
import { Confidence } from '../../ui/Confidence'
import { TagLinks } from './TagLinks'

/** A fact in one line, or on a phone in two. */
export function FactRow({ fact, detailed, ...look }: RowLook & { fact: Row }) {
  const { narrow } = look
  const fading = fact.state === 'fading'
  const gone = fact.state !== 'active' && !fading
  const validity = validityText(fact)
  return (
    <>
      <div className={cx('min-w-0 flex-1', narrow ? 'space-y-0.5' : 'flex items-baseline gap-2')}>
        <p className={cx('truncate text-sm', narrow ? '' : 'max-w-72 shrink-0')}>
          <span className="font-medium">{fact.subject}</span>{' '}
          <span className="text-muted">
            {capitalized(fact.predicate).toLowerCase()}
            {validity && ` ${validity}`}
          </span>
        </p>
        <Link
          to="/memory/facts/$id"
          params={{ id: fact.id }}
          className={cx(
            'block min-w-0 truncate font-serif text-lg after:absolute after:inset-0',
            gone && 'text-muted line-through decoration-line-strong',
            fading && 'italic',
          )}
        >
          {fact.content}
        </Link>
      </div>
      {detailed && <Details fact={fact} fading={fading} gone={gone} {...look} />}
    </>
  )
}

interface DetailsProps extends Omit<RowLook, 'detailed'> {
  fact: Row
  fading: boolean
  gone: boolean
}

/** All of the row but its text. */
function Details({ fact, fading, gone, narrow, selecting }: DetailsProps) {
  const label = `${fact.subject} ${capitalized(fact.predicate).toLowerCase()}`
  const actions = { kind: 'fact', id: fact.id, label, content: fact.content, dates: fact } as const
  return (
    <>
      {!narrow && <TagLinks to="/facts" tags={fact.tags} />}
      {!narrow && !selecting && <RowActions {...actions} live={!gone} />}
      <StateBadge state={fact.state} />
      {!narrow && (
        <span className="w-40 shrink-0 truncate text-right text-xs text-muted max-xl:hidden">
          {confidenceReason(fact)}
        </span>
      )}
      <span title={confidenceText(fact)} className="relative z-10">
        <Confidence value={fact.effective_confidence} fading={fading} gone={gone} bar={!narrow} />
      </span>
      {narrow && !gone && <RowMenu {...actions} why={confidenceText(fact)} />}
    </>
  )
}
