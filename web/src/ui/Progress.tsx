/** How much of a transfer is done, 0 to 1; null while that is unknown. */
export function Progress({ label, value }: { label: string; value: number | null }) {
  return (
    <span className="flex items-center gap-2 text-sm text-muted">
      <progress aria-label={label} max={1} {...(value === null ? {} : { value })} className="h-2 w-40 accent-accent" />
      {value !== null && <span className="figure">{Math.round(value * 100)} %</span>}
    </span>
  )
}
