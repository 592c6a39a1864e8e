import { Link } from '@tanstack/react-router'

/** A line has room for a few tags; the page of the memory shows all. */
const MOST = 2

/** Tags that filter the list. */
export function TagLinks({ to, tags }: { to: '/facts' | '/rules'; tags: string[] }) {
  if (tags.length === 0) return null
  return (
    <span className="relative z-10 flex shrink-0 gap-1 text-xs max-lg:hidden">
      {tags.slice(0, MOST).map((tag) => (
        <Link
          key={tag}
          to={to}
          search={(previous) => ({ ...previous, tag })}
          className="max-w-28 truncate rounded-sm bg-sunken px-1.5 text-muted hover:text-ink hover:underline"
        >
          {tag}
        </Link>
      ))}
      {tags.length > MOST && <span className="text-muted">+{tags.length - MOST}</span>}
    </span>
  )
}
