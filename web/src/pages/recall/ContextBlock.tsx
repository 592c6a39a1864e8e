import { count } from '../../lib/number'

interface Props {
  text: string
  tokens: number
  budget: number
}

/** The exact context block and its size in tokens. */
export function ContextBlock({ text, tokens, budget }: Props) {
  return (
    <div className="card overflow-hidden">
      <div className="border-b border-line px-4 py-2.5">
        <div className="flex justify-between gap-3 text-sm">
          <span>
            <strong className="figure font-semibold">{count(tokens)}</strong>{' '}
            <span className="text-muted">of {count(budget)} tokens</span>
          </span>
          <span className="figure text-muted">{count(text.length)} characters</span>
        </div>
        <div aria-hidden="true" className="mt-2 h-1 rounded-full bg-sunken">
          <div
            className="h-1 rounded-full bg-accent"
            style={{ width: `${Math.min(100, (tokens / Math.max(1, budget)) * 100)}%` }}
          />
        </div>
      </div>
      <section
        aria-label="Context block"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: without focus the block cannot be scrolled by keyboard
        tabIndex={0}
        className="max-h-[36rem] overflow-auto p-4"
      >
        <pre className="font-mono text-xs leading-5 break-words whitespace-pre-wrap">
          {text || 'Empty: nothing was recalled.'}
        </pre>
      </section>
    </div>
  )
}
