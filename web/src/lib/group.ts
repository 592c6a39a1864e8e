/** Groups items by key, in the order in which the keys first appear. */
export function groupBy<T>(list: readonly T[], key: (item: T) => string): [key: string, items: T[]][] {
  const groups = new Map<string, T[]>()
  for (const item of list) {
    const name = key(item)
    const group = groups.get(name)
    if (group) group.push(item)
    else groups.set(name, [item])
  }
  return [...groups]
}
