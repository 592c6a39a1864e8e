import { cx } from '../../lib/cx'
import { Section } from '../../ui/Section'

/** A warning says what not to do; beside it stands the advice it was made from. */
export function OriginalContent({ rule }: { rule: { maturity: string; original_content?: string | null } }) {
  const original = rule.original_content
  if (rule.maturity !== 'anti_pattern' || !original) return null
  return (
    <Section title="What it once advised">
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
