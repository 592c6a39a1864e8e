import { useLayoutEffect, useRef, useState } from 'react'

/** The width of an element in pixels. Charts are drawn in real pixels, so that their text is never scaled. */
export function useWidth<T extends HTMLElement>(initial = 480) {
  const ref = useRef<T>(null)
  const [width, setWidth] = useState(initial)
  useLayoutEffect(() => {
    const element = ref.current
    if (!element) return
    const measure = () => setWidth(Math.max(200, Math.floor(element.clientWidth)))
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return [ref, width] as const
}
