import { Link } from '@tanstack/react-router'
import { useWaiting } from '../api/waiting'
import { count } from '../lib/number'
import { Icon } from '../ui/Icon'
import { ButlerLinks } from './ButlerLinks'
import { pages } from './nav'
import { here, item } from './navStyles'

export function NavLinks({ onFollow }: { onFollow?: () => void }) {
  const waiting = useWaiting()
  return (
    <nav aria-label="Pages" className="flex flex-col gap-0.5">
      {pages.map((page) => (
        <Link
          key={page.to}
          to={page.to}
          search={{}}
          activeOptions={{ exact: page.to === '/memory', includeSearch: false }}
          className={item}
          activeProps={{ className: here }}
          onClick={onFollow}
        >
          <Icon name={page.icon} />
          {page.label}
          {page.to === '/inbox' && waiting > 0 && (
            <span className="figure ml-auto rounded-full bg-accent-wash px-2 text-xs text-accent">
              {count(waiting)}
              <span className="sr-only"> waiting</span>
            </span>
          )}
        </Link>
      ))}
      <ButlerLinks onFollow={onFollow} />
    </nav>
  )
}
