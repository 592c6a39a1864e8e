import { Page } from '../../ui/Page'
import { Section } from '../../ui/Section'
import { Connect } from './Connect'
import { DeadLetters } from './DeadLetters'
import { ExportAndBackup } from './ExportAndBackup'
import { Grants } from './Grants'
import { Jobs } from './Jobs'
import { Server } from './Server'
import { Tokens } from './Tokens'

export default function SettingsPage() {
  return (
    <Page title="Settings" lead="Clients, jobs, tokens, backups and the health of the server.">
      <div className="space-y-10">
        <Section title="Connect a client">
          <Connect />
        </Section>
        <Section title="Jobs">
          <Jobs />
        </Section>
        <DeadLetters />
        <Section title="Tokens">
          <Tokens />
        </Section>
        <Grants />
        <Section title="Export and backup">
          <ExportAndBackup />
        </Section>
        <Section title="Server health">
          <Server />
        </Section>
      </div>
    </Page>
  )
}
