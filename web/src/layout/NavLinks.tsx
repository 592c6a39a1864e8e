import { Link } from '@tanstack/react-router'
import { useGet } from '../api/hooks'
import { useWaiting } from '../api/waiting'
import { cx } from '../lib/cx'
import { count } from '../lib/number'
import { Icon } from '../ui/Icon'
import { pages } from './nav'

const item = 'flex h-10 items-center lg:h-8 gap-2.5 rounded-md px-2.5 text-muted hover:bg-sunken hover:text-ink'
const here = 'bg-sunken font-medium text-ink!'

export function NavLinks({ onFollow }: { onFollow?: () => void }) {
  const butlers = useGet('/api/butlers')
  const waiting = useWaiting()
  return (
    <nav aria-label="Pages" className="flex flex-col gap-0.5">
      {pages.map((page) => (
        <Link
          key={page.to}
          to={page.to}
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
      {butlers.data && butlers.data.data.length > 0 && (
        <>
          <p className="label mt-6 mb-1 px-2.5">Butlers</p>
          {butlers.data.data.map((butler) => (
            <Link
              key={butler.name}
              to="/butlers/$name/memory"
              params={{ name: butler.name }}
              activeOptions={{ includeSearch: false }}
              className={cx(item, 'min-w-0')}
              activeProps={{ className: here }}
              onClick={onFollow}
            >
              <Icon name="butler" />
              <span className="min-w-0 flex-1 truncate">{butler.name}</span>
              {butler.health === 'unavailable' && <span className="text-xs text-harm">✕ down</span>}
              {butler.health === 'starting' && <span className="text-xs text-muted">◌ starting</span>}
              {butler.health === 'disabled' && <span className="text-xs text-muted">no memory</span>}
            </Link>
          ))}
        </>
      )}
    </nav>
  )
}
