import { type LiveState, useLive } from '../api/live'
import { cx } from '../lib/cx'

const labels: Record<LiveState, [glyph: string, label: string, title: string]> = {
  connecting: ['◌', 'Connecting', 'The stream of changes is being opened'],
  live: ['●', 'Live', 'Changes appear by themselves'],
  down: ['✕', 'Not connected', 'The server does not answer; it is tried again every few seconds'],
  rejected: ['✕', 'Token needed', 'The server wants a bearer token'],
}

/** Whether what is on the page follows what happens. */
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
