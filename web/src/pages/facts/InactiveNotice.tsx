import { Link } from '@tanstack/react-router'
import type { FactDetailAt as FactDetail } from '../../api/schema'
import { fixed } from '../../lib/number'
import { Section } from '../../ui/Section'
import { Time } from '../../ui/Time'

const ended: Record<string, string> = {
  superseded: 'fact_superseded',
  expired: 'fact_expired',
  retracted: 'fact_forgotten',
}

/** Why a fact is no longer active, since when, and which fact superseded it. */
export function InactiveNotice({ fact }: { fact: FactDetail }) {
  const event = fact.events.find((event) => event.event_type === ended[fact.validity])
  const chain = fact.supersession_chain
  const newer = chain[chain.findIndex((version) => version.id === fact.id) + 1]
  const on = event && (
    <>
      {' '}
      on <Time at={event.created_at} how="date" />
    </>
  )
  return (
    <Section title="Why it is no longer active">
      <p className="rounded-lg border border-dashed border-line-strong/50 p-4 text-muted">
        {fact.validity === 'superseded' && (
          <>
            A newer version superseded it{on}
            {newer && (
              <>
                :{' '}
                <Link to="/memory/facts/$id" params={{ id: newer.id }} className="link font-serif">
                  {newer.content}
                </Link>
              </>
            )}
            .
          </>
        )}
        {fact.validity === 'expired' && (
          <>
            Nobody confirmed it, so its confidence fell below {fixed(fact.decay.expiry_threshold)} and it expired{on}.
          </>
        )}
        {fact.validity === 'retracted' && <>A user or an agent retracted it{on}.</>} It is kept as history; Restore
        brings it back.
      </p>
    </Section>
  )
}
