import { Link } from '@tanstack/react-router'
import { Page } from '../ui/Page'

export function NotFound() {
  return (
    <Page title="Page not found" lead="No page exists at this address.">
      <Link to="/memory" className="link">
        Go to Memory
      </Link>
    </Page>
  )
}
