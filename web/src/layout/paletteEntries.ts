import { setTheme } from '../lib/theme'
import type { IconName } from '../ui/Icon'

export interface Entry {
  id: string
  label: string
  hint?: string
  icon: IconName
  run: () => void
}

/** The actions of the page that is open: its buttons that have a key. */
export function pageActions(): Entry[] {
  const buttons = [...document.querySelectorAll<HTMLElement>('main [data-page-key]')]
  return buttons
    .filter((button) => button.getClientRects().length > 0)
    .map((button) => ({
      id: `page-${button.dataset.pageKey}`,
      label: button.textContent?.trim() ?? '',
      hint: `on this page (${button.dataset.pageKey})`,
      icon: 'run',
      run: () => button.click(),
    }))
}

/** Actions that every page offers. `go` opens an address of the dashboard. */
export function commonActions(go: (href: string) => void, help: () => void): Entry[] {
  const open = (id: string, label: string, href: string): Entry => ({
    id,
    label,
    icon: 'out',
    run: () => go(href),
  })
  const theme = (name: 'light' | 'dark' | 'system', icon: IconName): Entry => ({
    id: `theme-${name}`,
    label: `Use the ${name} theme`,
    icon,
    run: () => setTheme(name),
  })
  return [
    open('week', 'Show what changed this week', '/memory/changes'),
    open('fading', 'Review fading facts', '/facts?validity=fading&sort=least_confident'),
    open('dead', 'Show dead letters', '/memory/episodes?status=dead_letter'),
    open('figures', 'Show the figures of the memory', '/memory/health'),
    { id: 'help', label: 'Show the keyboard shortcuts', icon: 'memory', run: help },
    theme('light', 'sun'),
    theme('dark', 'moon'),
    theme('system', 'system'),
  ]
}

/** Whether every typed word is in the text. */
export function matches(text: string, typed: string): boolean {
  const lower = text.toLowerCase()
  return typed
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word))
}
