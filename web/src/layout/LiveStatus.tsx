import { type LiveState, useLive } from '../api/live'
import { cx } from '../lib/cx'

const labels: Record<LiveState, [glyph: string, label: string, title: string]> = {
  connecting: ['◌', 'Connecting', 'Connecting to the event stream'],
  live: ['●', 'Live', 'Changes appear as they happen'],
  down: ['✕', 'Disconnected', 'The server is not responding; retrying every few seconds'],
  rejected: ['✕', 'Token required', 'The server requires a valid token'],
}

/** Whether the page receives changes as they happen. */
export function LiveStatus() {
  const state = useLive()
  const [glyph, label, title] = labels[state]
  const trouble = state === 'down' || state === 'rejected'
  return (
    <span
      role="status"
      title={title}
      className={cx('inline-flex items-center gap-1.5 text-sm', trouble ? 'text-harm' : 'text-muted')}
    >
      <span aria-hidden="true" className={cx('text-2xs', state === 'live' && 'text-accent')}>
        {glyph}
      </span>
      {label}
    </span>
  )
}
