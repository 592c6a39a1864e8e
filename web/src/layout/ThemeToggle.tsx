import { setTheme, type Theme, useTheme } from '../lib/theme'
import { Icon, type IconName } from '../ui/Icon'

const next: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' }
const icons: Record<Theme, IconName> = { system: 'system', light: 'sun', dark: 'moon' }

export function ThemeToggle() {
  const theme = useTheme()
  return (
    <button
      type="button"
      onClick={() => setTheme(next[theme])}
      aria-label={`Theme: ${theme}. Change to ${next[theme]}`}
      title={`Theme: ${theme}`}
      className="rounded-md p-2 text-muted hover:bg-sunken hover:text-ink"
    >
      <Icon name={icons[theme]} />
    </button>
  )
}
