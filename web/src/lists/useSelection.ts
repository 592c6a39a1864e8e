import { useCallback, useRef, useState } from 'react'

export interface Selection<T> {
  rows: T[]
  has: (id: string) => boolean
  /** Selects or deselects a row. With `range`, also the rows between it and the row before. */
  toggle: (row: T, range: boolean) => void
  set: (rows: T[]) => void
}

/** The selected rows of a list. They stay selected when they are scrolled out of view. */
export function useSelection<T extends { id: string }>(all: T[]): Selection<T> {
  const [selected, setSelected] = useState<ReadonlyMap<string, T>>(new Map())
  const last = useRef<string | undefined>(undefined)
  // `toggle` stays the same while more rows load, so that the rows on the screen are not rendered again
  const known = useRef(all)
  known.current = all
  const toggle = useCallback((row: T, range: boolean) => {
    const place = (wanted: string | undefined) => known.current.findIndex(({ id }) => id === wanted)
    const [from, to] = [place(last.current), place(row.id)]
    const rows = range && from >= 0 ? known.current.slice(Math.min(from, to), Math.max(from, to) + 1) : [row]
    last.current = row.id
    setSelected((before) => {
      const next = new Map(before)
      const select = !before.has(row.id)
      for (const one of rows) {
        if (select) next.set(one.id, one)
        else next.delete(one.id)
      }
      return next
    })
  }, [])
  const set = useCallback((rows: T[]) => setSelected(new Map(rows.map((row) => [row.id, row]))), [])
  return { rows: [...selected.values()], has: (id) => selected.has(id), toggle, set }
}
