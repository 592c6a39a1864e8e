import { useEffect } from 'react'

function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
}

const shown = (element: HTMLElement) => element.getClientRects().length > 0

/** The rows of all visible lists on the page, in reading order. */
function rows(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>('main [data-row]')].filter(shown)
}

function move(step: 1 | -1) {
  const all = rows()
  const current = all.findIndex((row) => row.contains(document.activeElement))
  focusRow(all[current === -1 ? (step === 1 ? 0 : all.length - 1) : current + step])
}

/** Focuses the row's first link or button, or the row itself if it is marked so. */
function focusRow(row: HTMLElement | undefined) {
  const target = row?.dataset.row === 'self' ? row : (row?.querySelector<HTMLElement>('a[href], button') ?? row)
  target?.focus()
  target?.scrollIntoView({ block: 'nearest' })
}

/** A ref for a row: if the row goes away with the focus in it, the next row gets the focus, or else the previous. */
export function passFocusOn(row: HTMLElement | null) {
  return () => {
    if (!row?.contains(document.activeElement)) return
    const all = rows()
    const current = all.indexOf(row)
    focusRow(all[current + 1] ?? all[current - 1])
  }
}

/** Clicks the button bound to the key: the focused row's, or else the page's. Returns whether there is one. */
function act(key: string): boolean {
  const row = rows().find((candidate) => candidate.contains(document.activeElement))
  const button =
    row?.querySelector<HTMLElement>(`[data-key~="${key}"]`) ??
    // the last one: the newest of several toasts
    [...document.querySelectorAll<HTMLElement>(`[data-page-key="${key}"]`)].at(-1)
  button?.click()
  return Boolean(button)
}

interface Handlers {
  palette: () => void
  help: () => void
}

/** Handles `/ j k ?`, the letters of the buttons and Cmd+K. Enter is left to the focused link. */
export function useKeyboard({ palette, help }: Handlers) {
  useEffect(() => {
    function onKey(event: KeyboardEvent) {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        palette()
        return
      }
      const modified = event.metaKey || event.ctrlKey || event.altKey
      if (modified || event.defaultPrevented || typing(event.target) || document.querySelector('[role="dialog"]'))
        return
      if (handle(event.key)) event.preventDefault()
    }
    /** Returns whether the key did something. */
    function handle(key: string): boolean {
      switch (key) {
        case '/': {
          const search = document.querySelector<HTMLElement>('main [data-search]')
          if (search) search.focus()
          else palette()
          return true
        }
        case 'j':
          move(1)
          return true
        case 'k':
          move(-1)
          return true
        case '?':
          help()
          return true
        default:
          return /^[a-z]$/.test(key) && act(key)
      }
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [palette, help])
}
