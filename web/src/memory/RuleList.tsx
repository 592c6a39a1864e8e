import { Link } from '@tanstack/react-router'
import { cx } from '../lib/cx'
import { percent } from '../lib/number'
import { RowMenu } from '../lists/RowMenu'
import { MaturityBadge, StateBadge } from './badges'
import { RowActions } from './RowActions'
import type { RuleRow } from './types'

/** Summarizes a rule's marks. A rule that was never applied has no effectiveness. */
export function record(
  rule: Pick<RuleRow, 'applied_count' | 'success_count' | 'harmful_count' | 'effectiveness_score'>,
): string {
  if (rule.applied_count === 0) return 'not applied yet'
  const parts = [`${rule.success_count} helpful`, ...(rule.harmful_count > 0 ? [`${rule.harmful_count} harmful`] : [])]
  return `${parts.join(', ')} · ${percent(rule.effectiveness_score)} effective`
}

function Row({ rule }: { rule: RuleRow }) {
  const fading = rule.state === 'fading'
  const gone = rule.state === 'forgotten'
  return (
    <li data-row="" className="group relative border-b border-line last:border-0">
      <div className="flex gap-3 px-4 py-3">
        <span
          aria-hidden="true"
          className={cx(
            'mt-1 w-0.5 self-stretch rounded-full',
            rule.maturity === 'anti_pattern'
              ? 'bg-harm'
              : rule.maturity === 'proven'
                ? 'bg-accent'
                : 'bg-line-strong/50',
          )}
        />
        <div className="min-w-0 flex-1">
          <Link
            to="/memory/rules/$id"
            params={{ id: rule.id }}
            className={cx(
              'memory-text line-clamp-2 text-lg after:absolute after:inset-0',
              gone && 'text-muted line-through',
              fading && 'italic',
            )}
          >
            {rule.content}
          </Link>
          <div className="mt-1.5 flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted">
            <MaturityBadge maturity={rule.maturity} />
            <StateBadge state={rule.state ?? 'active'} />
            <span className="figure">{record(rule)}</span>
            <span className="ml-auto">
              <RowActions kind="rule" id={rule.id} label="this rule" content={rule.content} live={!gone} />
              {!gone && (
                <span className="md:hidden">
                  <RowMenu kind="rule" id={rule.id} label="this rule" content={rule.content} />
                </span>
              )}
            </span>
          </div>
        </div>
      </div>
    </li>
  )
}

export function RuleList({ rules, label = 'Rules' }: { rules: RuleRow[]; label?: string }) {
  return (
    <ul aria-label={label} className="card overflow-hidden">
      {rules.map((rule) => (
        <Row key={rule.id} rule={rule} />
      ))}
    </ul>
  )
}
