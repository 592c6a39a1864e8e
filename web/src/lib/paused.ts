import { useEffect, useState } from 'react'

/** Debounces a value that changes while somebody types: returns it as it was when the typing last paused. */
export function usePaused<T>(value: T, milliseconds: number): T {
  const [paused, setPaused] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setPaused(value), milliseconds)
    return () => clearTimeout(timer)
  }, [value, milliseconds])
  return paused
}
