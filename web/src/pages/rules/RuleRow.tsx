import { Link } from '@tanstack/react-router'
import { cx } from '../../lib/cx'
import { RowMenu } from '../../lists/RowMenu'
import type { RowLook } from '../../lists/Rows'
import { MaturityBadge, StateBadge } from '../../memory/badges'
import { RowActions } from '../../memory/RowActions'
import { record } from '../../memory/RuleList'
import type { RuleRow as Row } from '../../memory/types'
import { TagLinks } from '../facts/TagLinks'

/** A rule in one line, or on a phone in two. */
export function RuleRow({ rule, detailed, ...look }: RowLook & { rule: Row }) {
  const { narrow } = look
  const gone = rule.state === 'forgotten'
  return (
    <>
      <div className={cx('min-w-0 flex-1', narrow && 'space-y-1')}>
        <Link
          to="/memory/rules/$id"
          params={{ id: rule.id }}
          className={cx(
            'block truncate font-serif text-lg after:absolute after:inset-0',
            gone && 'text-muted line-through decoration-line-strong',
            rule.state === 'fading' && 'italic',
          )}
        >
          {rule.content}
        </Link>
        {narrow && (
          <p className="flex gap-2 text-sm text-muted">
            <MaturityBadge maturity={rule.maturity} />
            <span className="figure truncate">{record(rule)}</span>
          </p>
        )}
      </div>
      {detailed && <Details rule={rule} gone={gone} {...look} />}
    </>
  )
}

interface DetailsProps extends Omit<RowLook, 'detailed'> {
  rule: Row
  gone: boolean
}

/** All of the row but its text. */
function Details({ rule, gone, narrow, selecting }: DetailsProps) {
  const actions = { kind: 'rule', id: rule.id, label: 'this rule', content: rule.content } as const
  return (
    <>
      {!narrow && <TagLinks to="/rules" tags={rule.tags} />}
      {!narrow && !selecting && <RowActions {...actions} live={!gone} />}
      <StateBadge state={rule.state ?? 'active'} />
      {!narrow && (
        <span className="figure w-48 shrink-0 truncate text-sm text-muted max-lg:hidden">{record(rule)}</span>
      )}
      {!narrow && (
        <span className="w-24 shrink-0">
          <MaturityBadge maturity={rule.maturity} />
        </span>
      )}
      {narrow && !gone && <RowMenu {...actions} />}
    </>
  )
}
