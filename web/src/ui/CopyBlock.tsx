import { useState } from 'react'
import { cx } from '../lib/cx'
import { Icon } from './Icon'
import { toast } from './toast'

/** A text with a button that copies it. `label` names the text: "the new token". */
export function CopyBlock({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState(false)
  async function copy() {
    try {
      await navigator.clipboard.writeText(text)
    } catch (error) {
      // the clipboard is available on HTTPS and localhost only
      toast(`Could not copy: ${error instanceof Error ? error.message : 'no clipboard'}. Select the text instead.`, {
        tone: 'failed',
      })
      return
    }
    setCopied(true)
    setTimeout(() => setCopied(false), 1500)
  }
  return (
    <div className="flex items-start gap-2 rounded-md border border-line bg-sunken py-2 pr-2 pl-3 text-left">
      <pre className="min-w-0 flex-1 py-0.5 font-mono text-sm [overflow-wrap:anywhere] whitespace-pre-wrap">{text}</pre>
      <button
        type="button"
        onClick={() => void copy()}
        aria-label={copied ? 'Copied' : `Copy ${label}`}
        className={cx(
          'inline-flex h-7 items-center gap-1 rounded-md px-2 text-sm text-muted',
          'hover:bg-surface hover:text-ink',
        )}
      >
        <Icon name={copied ? 'check' : 'copy'} />
        <span className="hidden sm:inline">{copied ? 'Copied' : 'Copy'}</span>
      </button>
    </div>
  )
}
