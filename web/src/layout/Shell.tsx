import { Outlet } from '@tanstack/react-router'
import { type ComponentType, lazy, Suspense, useCallback, useState } from 'react'
import { useLive } from '../api/live'
import { cx } from '../lib/cx'
import { useKeyboard } from '../lib/keyboard'
import { modifier } from '../lib/platform'
import { Icon } from '../ui/Icon'
import { Kbd } from '../ui/Kbd'
import { Toasts } from '../ui/Toasts'
import { LiveStatus } from './LiveStatus'
import { MobileNav } from './MobileNav'
import { NavLinks } from './NavLinks'
import { NewTokenDialog } from './NewTokenDialog'
import type { PaletteProps } from './Palette'
import { PaletteMissing } from './PaletteMissing'
import { ServerDown } from './ServerDown'
import { ShortcutHelp } from './ShortcutHelp'
import { TenantSwitch } from './TenantSwitch'
import { ThemeToggle } from './ThemeToggle'
import { TokenGate } from './TokenGate'
import { Wordmark } from './Wordmark'

export const loadPalette = () => import('./Palette')
/** With the server gone, the palette may not be loaded yet; then the page stays as it is. */
const Palette = lazy<ComponentType<PaletteProps>>(() => loadPalette().catch(() => ({ default: PaletteMissing })))

export function Shell() {
  const [palette, setPalette] = useState(false)
  const [help, setHelp] = useState(false)
  const live = useLive()
  useKeyboard({
    palette: useCallback(() => setPalette((open) => !open), []),
    help: useCallback(() => setHelp(true), []),
  })
  return (
    <div className="lg:grid lg:min-h-dvh lg:grid-cols-[15rem_minmax(0,1fr)]">
      <a
        href="#main"
        className={cx(
          'sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-60',
          'focus:rounded-md focus:bg-surface focus:p-2',
        )}
      >
        Skip to content
      </a>
      <aside className="sticky top-0 hidden h-dvh flex-col overflow-y-auto border-r border-line p-3 lg:flex">
        <div className="mb-5 flex h-10 items-center">
          <Wordmark />
        </div>
        <NavLinks />
        <div className="mt-auto px-2.5 pt-6 pb-1">
          <button
            type="button"
            onClick={() => setHelp(true)}
            className="flex items-center gap-2 text-sm text-muted hover:text-ink"
          >
            <Kbd>?</Kbd> Keyboard shortcuts
          </button>
        </div>
      </aside>
      <div className="flex min-w-0 flex-col">
        <header
          className={cx(
            'sticky top-0 z-30 flex h-14 items-center gap-2 border-b border-line bg-paper px-4',
            'sm:gap-3 sm:px-6 lg:px-8',
          )}
        >
          <MobileNav />
          <button
            type="button"
            onClick={() => setPalette(true)}
            className={cx(
              'flex h-9 min-w-0 flex-1 items-center gap-2 rounded-md border border-line bg-surface px-3 text-muted',
              'hover:border-line-strong sm:max-w-sm',
            )}
          >
            <Icon name="recall" />
            <span className="flex-1 truncate text-left">Search memory</span>
            <span className="hidden gap-1 sm:flex">
              <Kbd>{modifier}</Kbd>
              <Kbd>K</Kbd>
            </span>
          </button>
          <div className="ml-auto flex items-center gap-1 sm:gap-3">
            <TenantSwitch className="hidden h-8 px-2 sm:inline-flex" />
            <LiveStatus />
            <ThemeToggle />
          </div>
        </header>
        {live === 'down' && <ServerDown />}
        <main id="main" tabIndex={-1} className="min-w-0 flex-1 outline-none">
          {live === 'rejected' ? <TokenGate /> : <Outlet />}
        </main>
      </div>
      {palette && (
        <Suspense>
          <Palette onClose={() => setPalette(false)} onHelp={() => setHelp(true)} />
        </Suspense>
      )}
      <ShortcutHelp open={help} onOpenChange={setHelp} />
      <NewTokenDialog />
      <Toasts />
    </div>
  )
}
