import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

interface Props {
  kind: string
  id: string
  children: ReactNode
  className?: string
}

/** A link to the page of a memory or an entity. */
export function MemoryLink({ kind, id, children, className = 'link' }: Props) {
  const rest = { params: { id }, className }
  if (kind === 'fact')
    return (
      <Link to="/memory/facts/$id" {...rest}>
        {children}
      </Link>
    )
  if (kind === 'rule')
    return (
      <Link to="/memory/rules/$id" {...rest}>
        {children}
      </Link>
    )
  if (kind === 'episode')
    return (
      <Link to="/memory/episodes/$id" {...rest}>
        {children}
      </Link>
    )
  if (kind === 'entity')
    return (
      <Link to="/entities/$id" {...rest}>
        {children}
      </Link>
    )
  return <>{children}</>
}
