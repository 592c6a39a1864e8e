import type { EntityType } from '../../api/schema'

/** The theme's colours as the canvas needs them: it cannot read CSS variables. */
export interface Palette {
  types: Record<EntityType, string>
  ink: string
  muted: string
  surface: string
  accent: string
  edge: string
  dimmed: string
}

export function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement)
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim()
  return {
    types: {
      person: colour('accent'),
      organization: colour('type-organization'),
      place: colour('type-place'),
      other: colour('line-strong'),
    },
    ink: colour('ink'),
    muted: colour('muted'),
    surface: colour('surface'),
    accent: colour('accent'),
    edge: colour('line-strong'),
    dimmed: colour('line'),
  }
}

/** Calls back when the theme changes, by the system or by the user. Returns a function that stops it. */
export function onThemeChange(callback: () => void): () => void {
  const system = window.matchMedia('(prefers-color-scheme: dark)')
  const attribute = new MutationObserver(callback)
  system.addEventListener('change', callback)
  attribute.observe(document.documentElement, { attributeFilter: ['data-theme'] })
  return () => {
    system.removeEventListener('change', callback)
    attribute.disconnect()
  }
}

export const reducedMotion = () => window.matchMedia('(prefers-reduced-motion: reduce)').matches
