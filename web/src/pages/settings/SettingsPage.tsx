import { useNavigate, useSearch } from '@tanstack/react-router'
import { useListButler } from '../../api/list-butler'
import { ButlerSelect } from '../../ui/ButlerSelect'
import { Page } from '../../ui/Page'
import { Section } from '../../ui/Section'
import { Segments } from '../../ui/Segments'
import { Loading } from '../../ui/states'
import type { settingsTabs } from '../search'
import { Backups } from './Backups'
import { Connect } from './Connect'
import { DeadLetters } from './DeadLetters'
import { Export } from './Export'
import { Grants } from './Grants'
import { Import } from './Import'
import { Jobs } from './Jobs'
import { Llm } from './Llm'
import { Server } from './Server'
import { Tokens } from './Tokens'

type Tab = (typeof settingsTabs)[number]

const tabs: [Tab, string][] = [
  ['connections', 'Connections'],
  ['jobs', 'Jobs'],
  ['access', 'Access'],
  ['data', 'Data'],
  ['health', 'Health'],
]

const leads: Record<Tab, string> = {
  connections: 'Connect an agent to this memory.',
  jobs: 'What the server does on a schedule, and when it last did.',
  access: 'Who may read and change this memory.',
  data: 'Take the memory with you, bring another one in, and back it up.',
  health: 'Whether each butler and its LLM respond.',
}

/** The sections of a tab. `butler` is the chosen one; none means all of them, or the first. */
function Sections({ tab, butler }: { tab: Tab; butler: string | undefined }) {
  switch (tab) {
    case 'connections':
      return (
        <Section title="Connect a client">
          <Connect butler={butler} />
        </Section>
      )
    case 'jobs':
      return (
        <>
          <Section title="Jobs">
            <Jobs butler={butler} />
          </Section>
          <DeadLetters butler={butler} />
        </>
      )
    case 'access':
      return (
        <>
          <Section title="Tokens">
            <Tokens />
          </Section>
          <Grants />
        </>
      )
    case 'data':
      return (
        <>
          <Section title="Export">
            <Export butler={butler} />
          </Section>
          <Section title="Import">
            <Import butler={butler} />
          </Section>
          <Section title="Backups">
            <Backups butler={butler} />
          </Section>
        </>
      )
    case 'health':
      return (
        <>
          <Section title="Server health">
            <Server butler={butler} />
          </Section>
          <Section title="LLM">
            <Llm butler={butler} />
          </Section>
        </>
      )
  }
}

export default function SettingsPage() {
  const { tab = 'connections', butler: named } = useSearch({ from: '/settings' })
  const navigate = useNavigate({ from: '/settings' })
  const { ready, butler, choose } = useListButler(
    named,
    (next) => void navigate({ search: (previous) => ({ ...previous, butler: next }) }),
  )
  return (
    <Page title="Settings" lead={leads[tab]}>
      <div className="mb-6 flex flex-wrap items-center gap-2">
        <Segments
          label="Settings"
          value={tab}
          options={tabs}
          onChange={(next) => void navigate({ search: (previous) => ({ ...previous, tab: next }) })}
        />
        {tab !== 'access' && <ButlerSelect value={butler} onChange={choose} />}
      </div>
      <div className="space-y-10">{ready ? <Sections tab={tab} butler={butler} /> : <Loading />}</div>
    </Page>
  )
}
