import * as Radix from '@radix-ui/react-dialog'
import { type ReactNode, useRef } from 'react'
import { cx } from '../lib/cx'
import { Icon } from './Icon'

interface Props {
  open: boolean
  onOpenChange: (open: boolean) => void
  title: string
  description?: ReactNode
  children: ReactNode
  wide?: boolean | 'full'
}

/**
 * A modal dialog. The backdrop is a plain element, because Radix's own overlay injects a style sheet, which the content
 * security policy forbids. The focus starts in the field with `data-first-focus`, if there is one, and returns to where
 * it was: Radix returns it to a trigger only, which a dialog that a key opens does not have.
 */
export function Dialog({ open, onOpenChange, title, description, children, wide = false }: Props) {
  const opener = useRef<Element | null>(null)
  function onOpen(event: Event) {
    opener.current = document.activeElement
    const field = (event.currentTarget as HTMLElement).querySelector<HTMLElement>('[data-first-focus]')
    if (!field) return
    event.preventDefault()
    field.focus()
    // Editing goes on where the text ends.
    if (field instanceof HTMLTextAreaElement) field.setSelectionRange(field.value.length, field.value.length)
  }
  function onClose(event: Event) {
    event.preventDefault()
    // The opener may be gone, as when its row was forgotten or the page changed.
    const before = opener.current?.isConnected ? opener.current : document.getElementById('main')
    if (before instanceof HTMLElement) before.focus({ preventScroll: before.id === 'main' })
  }
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <div aria-hidden="true" className="fixed inset-0 z-40 bg-backdrop" />
        <Radix.Content
          className={cx(
            'fixed top-[8vh] left-1/2 z-50 max-h-[84vh] w-[calc(100vw-2rem)] -translate-x-1/2',
            'overflow-y-auto rounded-xl border border-line bg-surface p-6 shadow-float',
            wide === 'full' ? 'max-w-4xl' : wide ? 'max-w-2xl' : 'max-w-lg',
          )}
          onOpenAutoFocus={onOpen}
          onCloseAutoFocus={onClose}
          {...(description ? {} : { 'aria-describedby': undefined })}
        >
          <div className="mb-4 flex items-start justify-between gap-4">
            <Radix.Title className="text-lg font-semibold">{title}</Radix.Title>
            <Radix.Close aria-label="Close" className="-m-1 rounded-md p-1 text-muted hover:bg-sunken hover:text-ink">
              <Icon name="close" />
            </Radix.Close>
          </div>
          {description && (
            <Radix.Description asChild className="mb-4 text-muted">
              <div>{description}</div>
            </Radix.Description>
          )}
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
