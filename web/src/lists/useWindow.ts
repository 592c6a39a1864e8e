import { type RefObject, useLayoutEffect, useState } from 'react'
import type { Range } from './useListing'

/** Rows above and below the screen, so that the keys j and k and quick scrolling find a row. */
const OVERSCAN = 12
/** `onVisible` is called when the list has been scrolled by about this many rows. */
const STEP = 20

/**
 * The rows of a list that are on the screen, if each is `height` pixels high and the window scrolls. `onVisible` gets
 * them too, but only when about `STEP` rows have scrolled by.
 */
export function useWindow(
  list: RefObject<HTMLElement | null>,
  height: number,
  onVisible: (range: Range) => void,
): Range {
  const [range, setRange] = useState<Range>({ first: 0, last: 40 })
  useLayoutEffect(() => {
    let told: Range | undefined
    function measure() {
      const above = -(list.current?.getBoundingClientRect().top ?? 0)
      const first = Math.max(0, Math.floor(above / height) - OVERSCAN)
      const last = Math.max(first, Math.ceil((above + window.innerHeight) / height) + OVERSCAN)
      setRange((known) => (known.first === first && known.last === last ? known : { first, last }))
      const [from, to] = [Math.floor(first / STEP) * STEP, Math.ceil(last / STEP) * STEP]
      if (from !== told?.first || to !== told.last) onVisible({ first: from, last: to })
      told = { first: from, last: to }
    }
    measure()
    window.addEventListener('scroll', measure, { passive: true })
    window.addEventListener('resize', measure)
    return () => {
      window.removeEventListener('scroll', measure)
      window.removeEventListener('resize', measure)
    }
  }, [list, height, onVisible])
  return range
}
