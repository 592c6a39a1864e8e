import type { MouseEvent, ReactNode } from 'react'
import { passFocusOn } from '../../lib/keyboard'
import { Button, type ButtonProps } from '../../ui/Button'
import { Kbd } from '../../ui/Kbd'

/** A row of the inbox. The keys of its buttons work while the row or anything in it has the focus. */
export function Item({ children }: { children: ReactNode }) {
  return (
    <li
      ref={passFocusOn}
      data-row="self"
      tabIndex={-1}
      className="border-b border-line px-4 py-3 -outline-offset-2! last:border-0 focus:bg-sunken/60"
    >
      {children}
    </li>
  )
}

interface DecideProps extends Pick<ButtonProps, 'variant' | 'busy'> {
  /** The keys that press the button, separated by spaces. The button shows the first. */
  keys: string
  /** What the decision is about, for a name that tells the buttons of the rows apart. */
  about: string
  onDecide: () => void
  children: string
}

/** A button that decides on its row. */
export function Decide({ keys, about, onDecide, children, ...rest }: DecideProps) {
  function onClick(event: MouseEvent<HTMLElement>) {
    // the button is disabled while the request runs, which would lose the focus
    event.currentTarget.closest<HTMLElement>('[data-row]')?.focus({ preventScroll: true })
    onDecide()
  }
  return (
    <Button size="small" data-key={keys} onClick={onClick} {...rest}>
      {children}
      <span className="sr-only">: {about}</span>
      <span aria-hidden="true" className="max-sm:hidden">
        <Kbd>{keys.split(' ')[0]}</Kbd>
      </span>
    </Button>
  )
}
