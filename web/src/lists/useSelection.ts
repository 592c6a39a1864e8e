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
  const toggle = useCallback(
    (row: T, range: boolean) => {
      const [from, to] = [all.findIndex(({ id }) => id === last.current), all.findIndex(({ id }) => id === row.id)]
      const rows = range && from >= 0 ? all.slice(Math.min(from, to), Math.max(from, to) + 1) : [row]
      last.current = row.id
      setSelected((known) => {
        const next = new Map(known)
        const select = !known.has(row.id)
        for (const one of rows) {
          if (select) next.set(one.id, one)
          else next.delete(one.id)
        }
        return next
      })
    },
    [all],
  )
  const set = useCallback((rows: T[]) => setSelected(new Map(rows.map((row) => [row.id, row]))), [])
  return { rows: [...selected.values()], has: (id) => selected.has(id), toggle, set }
}
