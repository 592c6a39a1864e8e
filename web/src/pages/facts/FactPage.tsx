import { Link, useParams } from '@tanstack/react-router'
import { useGet } from '../../api/hooks'
import type { FactDetailAt as FactDetail } from '../../api/schema'
import { DecayCurve } from '../../charts/DecayCurve'
import { Periods } from '../../charts/Periods'
import { worthShowing } from '../../charts/periodLayout'
import { validityText } from '../../lib/dates'
import { capitalized } from '../../lib/labels'
import { Actions } from '../../memory/Actions'
import { PermanenceBadge, SourceBadge, StateBadge } from '../../memory/badges'
import { confidenceReason } from '../../memory/confidence'
import { DecayLine } from '../../memory/DecayLine'
import { EventList } from '../../memory/EventList'
import { isOutgoing } from '../../memory/links'
import { Provenance } from '../../memory/Provenance'
import { Versions } from '../../memory/Versions'
import { Back } from '../../ui/Back'
import { Confidence } from '../../ui/Confidence'
import { Loaded } from '../../ui/Loaded'
import { Page } from '../../ui/Page'
import { Properties } from '../../ui/Properties'
import { Section } from '../../ui/Section'
import { DecayDates } from './DecayDates'
import { factProperties } from './factProperties'
import { InactiveNotice } from './InactiveNotice'
import { Readers } from './Readers'

function View({ fact }: { fact: FactDetail }) {
  const fading = fact.state === 'fading'
  const live = fact.state === 'active' || fading
  const validity = validityText(fact)
  // A fact that is active was restored from whatever superseded it.
  const links = live ? fact.links.filter((link) => !(link.relation === 'supersedes' && !isOutgoing(link))) : fact.links
  const subject = fact.entity_id ? (
    <Link to="/entities/$id" params={{ id: fact.entity_id }} className="font-medium text-ink hover:underline">
      {fact.subject}
    </Link>
  ) : (
    <span className="font-medium text-ink">{fact.subject}</span>
  )
  return (
    <Page
      above={<Back to="/facts">Facts</Back>}
      title={fact.content}
      tab={`${fact.subject} ${capitalized(fact.predicate).toLowerCase()}`}
      serif
      lead={
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <span>
            {subject} · {capitalized(fact.predicate).toLowerCase()}
            {validity && ` · ${validity}`}
          </span>
          <StateBadge state={fact.state} always />
          <PermanenceBadge permanence={fact.permanence} />
          <Confidence value={fact.effective_confidence} fading={fading} gone={!live} why={confidenceReason(fact)} />
        </span>
      }
      actions={<Actions kind="fact" id={fact.id} content={fact.content} dates={fact} live={live} />}
    >
      <div className="grid gap-x-10 gap-y-8 lg:grid-cols-[minmax(0,1fr)_18rem]">
        <div className="min-w-0 space-y-8">
          {!live && <InactiveNotice fact={fact} />}
          {live && (
            <Section title="Confidence and decay">
              <div className="card p-4 sm:p-5">
                <DecayLine decay={fact.decay} />
                <DecayDates decay={fact.decay} />
                <DecayCurve decay={fact.decay} />
              </div>
            </Section>
          )}
          {worthShowing(fact.timeline) && (
            <Section title="Timeline">
              <div className="card p-4 sm:p-5">
                <Periods periods={fact.timeline} current={fact.id} />
              </div>
            </Section>
          )}
          <Section title="Provenance" aside={<SourceBadge source={fact.source} />}>
            <div className="card p-4 sm:p-5">
              <Provenance kind="fact" label={fact.content} links={links} />
            </div>
          </Section>
          {fact.supersession_chain.length > 1 && (
            <Section title="Versions">
              <Versions versions={fact.supersession_chain} current={fact.id} />
            </Section>
          )}
        </div>
        <div className="min-w-0 space-y-8">
          <Section title="Reads" quiet>
            <Readers memory={fact} />
          </Section>
          <Section title="Details" quiet>
            <Properties rows={factProperties(fact)} />
          </Section>
          {fact.events.length > 0 && (
            <Section title="Events" quiet>
              <EventList events={fact.events} look="own" />
            </Section>
          )}
        </div>
      </div>
    </Page>
  )
}

export default function FactPage() {
  const { id } = useParams({ from: '/memory/facts/$id' })
  const query = useGet('/api/memory/facts/{id}', { path: { id } })
  return (
    <Loaded query={query} label="the fact">
      {(answer) => <View key={answer.data.id} fact={answer.data} />}
    </Loaded>
  )
}
