import * as Radix from '@radix-ui/react-dialog'
import { useState } from 'react'
import { cx } from '../lib/cx'
import { Icon } from '../ui/Icon'
import { NavLinks } from './NavLinks'
import { TenantSwitch } from './TenantSwitch'
import { Wordmark } from './Wordmark'

export function MobileNav() {
  const [open, setOpen] = useState(false)
  return (
    <Radix.Root open={open} onOpenChange={setOpen}>
      <Radix.Trigger aria-label="Pages" className="-ml-2 rounded-md p-2 text-muted hover:bg-sunken lg:hidden">
        <Icon name="menu" />
      </Radix.Trigger>
      <Radix.Portal>
        <div aria-hidden="true" className="fixed inset-0 z-40 bg-backdrop" />
        <Radix.Content
          aria-describedby={undefined}
          className={cx(
            'fixed inset-y-0 left-0 z-50 w-72 max-w-[85vw] overflow-y-auto',
            'border-r border-line bg-paper p-3 shadow-float',
          )}
        >
          <div className="mb-4 flex items-center justify-between">
            <Radix.Title asChild>
              <div>
                <Wordmark />
              </div>
            </Radix.Title>
            <Radix.Close aria-label="Close" className="rounded-md p-2 text-muted hover:bg-sunken">
              <Icon name="close" />
            </Radix.Close>
          </div>
          <NavLinks onFollow={() => setOpen(false)} />
          <div className="mt-6 border-t border-line pt-3 sm:hidden">
            <TenantSwitch className="flex h-10 w-full px-2.5" onChange={() => setOpen(false)} />
          </div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
