import { cx } from '../lib/cx'
import { Icon } from './Icon'
import { dismiss, useToasts } from './toast'

/** Short messages about completed actions, with undo where possible. */
export function Toasts() {
  const toasts = useToasts()
  return (
    <div
      role="status"
      aria-live="polite"
      className="pointer-events-none fixed inset-x-4 bottom-4 z-60 flex flex-col items-center gap-2"
    >
      {toasts.map((toast) => (
        <div
          key={toast.id}
          className={cx(
            'pointer-events-auto flex max-w-full items-center gap-3 rounded-lg border border-line bg-surface',
            'py-2 pr-2 pl-4 shadow-float',
          )}
        >
          <span className={toast.tone === 'failed' ? 'min-w-0 break-words text-harm' : 'min-w-0 break-words'}>
            {toast.tone === 'failed' && <span aria-hidden="true">✕ </span>}
            {toast.text}
          </span>
          {toast.action && (
            <button
              type="button"
              data-page-key={toast.action.label === 'Undo' ? 'u' : undefined}
              className="h-7 rounded-md px-2 font-medium text-accent hover:bg-accent-wash"
              onClick={() => {
                toast.action?.run()
                dismiss(toast.id)
              }}
            >
              {toast.action.label}
            </button>
          )}
          <button
            type="button"
            aria-label="Dismiss"
            className="rounded-md p-1.5 text-muted hover:bg-sunken"
            onClick={() => dismiss(toast.id)}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  )
}
