import { cx } from '../../lib/cx'
import { Section } from '../../ui/Section'

/** The rule that a warning was made from. */
export function OriginalContent({ rule }: { rule: { maturity: string; original_content?: string | null } }) {
  const original = rule.original_content
  if (rule.maturity !== 'anti_pattern' || !original) return null
  return (
    <Section title="Original rule">
      <p
        className={cx(
          'memory-text rounded-lg border border-dashed border-harm/50 p-4',
          'text-lg text-muted line-through decoration-harm',
        )}
      >
        {original}
      </p>
    </Section>
  )
}
