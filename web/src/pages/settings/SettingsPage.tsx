import { Page } from '../../ui/Page'
import { Section } from '../../ui/Section'
import { Connect } from './Connect'

export default function SettingsPage() {
  return (
    <Page title="Settings" lead="Connect agents, and keep the house.">
      <div className="space-y-10">
        <Section title="Connect a client">
          <Connect />
        </Section>
      </div>
    </Page>
  )
}
