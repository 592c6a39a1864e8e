import { Link } from '@tanstack/react-router'
import { Icon } from './Icon'

export function Back({
  to,
  children,
}: {
  to: '/memory' | '/facts' | '/rules' | '/memory/episodes' | '/entities'
  children: string
}) {
  return (
    <Link to={to} className="-ml-1 mb-3 inline-flex items-center gap-1 text-sm text-muted hover:text-ink">
      <Icon name="previous" className="size-3.5" />
      {children}
    </Link>
  )
}
