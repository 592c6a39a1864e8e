import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useGet } from '../../api/hooks'
import { command } from '../../lib/commands'
import { useLlmTested } from '../../lib/onboarding'
import { connectable, connectCommand } from '../../lib/snippets'
import { ago } from '../../lib/time'
import { Button } from '../../ui/Button'
import { CopyBlock } from '../../ui/CopyBlock'
import { Segments } from '../../ui/Segments'
import { Llm } from '../settings/Llm'

/** While a step waits, the page asks every few seconds; the event stream does not tell who connected. */
const EVERY_MS = 3000

interface Step {
  done: boolean
  title: string
  waiting: string
}

/** What has happened since the installation. Each step is read from the server, so it is true after a reload. */
function useSteps(): Step[] {
  const server = useGet('/api/server', {}, { refetchEvery: EVERY_MS })
  const episodes = useGet('/api/memory/episodes', { query: { limit: 1 } }, { refetchEvery: EVERY_MS })
  const facts = useGet('/api/memory/facts', { query: { limit: 1, validity: 'all' } }, { refetchEvery: EVERY_MS })
  const seen = server.data?.data.agent_seen_at
  const tested = useLlmTested()
  const stored = (episodes.data?.meta.total ?? 0) > 0
  const connected = stored ? 'An agent connected' : 'An agent connects'
  return [
    {
      // With a token the server does not say whether an agent connected, but only an agent stores episodes.
      done: Boolean(seen) || stored,
      title: seen ? `An agent connected ${ago(seen)}` : connected,
      waiting: 'Run the command above, then start your agent.',
    },
    {
      done: stored,
      title: 'The first episode is stored',
      waiting: 'End a session, or ask the agent to remember something.',
    },
    {
      done: tested,
      title: 'The LLM answers',
      waiting: 'Press “Test the LLM”. Without an LLM, episodes are stored but nothing is learned from them.',
    },
    {
      done: (facts.data?.meta.total ?? 0) > 0,
      title: 'The first fact is learned',
      waiting: 'Consolidation learns facts from episodes with the LLM, every six hours or on demand.',
    },
  ]
}

function Steps({ steps }: { steps: Step[] }) {
  return (
    <ol aria-label="Steps" className="space-y-2">
      {steps.map((step) => (
        <li key={step.waiting} className="flex gap-3">
          <span aria-hidden="true" className={step.done ? 'text-accent' : 'text-muted'}>
            {step.done ? '✓' : '○'}
          </span>
          <span>
            <span className={step.done ? 'font-medium' : ''}>{step.title}</span>
            <span className="sr-only">{step.done ? ': done' : ': waiting'}</span>
            {!step.done && <span className="block text-sm text-muted">{step.waiting}</span>}
          </span>
        </li>
      ))}
    </ol>
  )
}

interface Props {
  /** Whether nothing is remembered yet. */
  empty: boolean
  onClose: () => void
}

/** How to connect an agent, and what has happened so far. It closes by itself once all steps are done. */
export function GettingStarted({ empty, onClose }: Props) {
  const server = useGet('/api/server').data?.data
  const clients = Object.keys(connectable)
  const [client, setClient] = useState(clients[0] ?? '')
  const steps = useSteps()
  const allDone = steps.every(({ done }) => done)
  useEffect(() => {
    if (allDone) onClose()
  }, [allDone, onClose])
  return (
    <section aria-label="Getting started" className="card mb-6 p-6 sm:p-8">
      <div className="flex items-start justify-between gap-4">
        <h2 className="font-serif text-2xl">{empty ? 'Nothing is remembered yet.' : 'Getting started'}</h2>
        <Button size="small" variant="ghost" onClick={onClose}>
          Hide these steps
        </Button>
      </div>
      <p className="mt-2 max-w-prose text-muted">Connect an agent. What it learns appears here as it happens.</p>
      <div className="mt-6 grid gap-x-10 gap-y-8 md:grid-cols-2">
        <div className="min-w-0 space-y-3">
          <h3 className="font-medium">1. Connect an agent</h3>
          <Segments
            label="Client"
            value={client}
            options={clients.map((name): [string, string] => [name, name])}
            onChange={setClient}
          />
          <CopyBlock
            label={`the command that connects ${client}`}
            text={connectCommand(client, server) ?? command('connect', server)}
          />
          <p className="text-sm text-muted">
            It shows what it changes and keeps a backup. For another machine or another client, see{' '}
            <Link to="/settings" className="link">
              Settings
            </Link>
            .
          </p>
          <h3 className="pt-3 font-medium">2. Test the LLM</h3>
          <Llm />
        </div>
        <div className="min-w-0 space-y-3">
          <h3 className="font-medium">3. Watch it learn</h3>
          <Steps steps={steps} />
          {empty && (
            <>
              <h3 className="pt-3 font-medium">Or explore a demo first</h3>
              <CopyBlock label="the demo command" text={command('demo', server)} />
              <p className="text-sm text-muted">
                Creates a demo butler with half a year of sample memories. Remove it with --remove.
              </p>
            </>
          )}
        </div>
      </div>
    </section>
  )
}
