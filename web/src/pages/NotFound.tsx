import { Link } from '@tanstack/react-router'
import { Page } from '../ui/Page'

export function NotFound() {
  return (
    <Page title="There is no such page" lead="The address leads nowhere; perhaps it was cut short.">
      <Link to="/memory" className="link">
        Go to what is known
      </Link>
    </Page>
  )
}
