import { Link, useParams } from '@tanstack/react-router'
import { useGet } from '../../api/hooks'
import type { RuleDetailAt as RuleDetail } from '../../api/schema'
import { permanenceDescription } from '../../lib/labels'
import { Actions } from '../../memory/Actions'
import { MaturityBadge, SourceBadge, StateBadge } from '../../memory/badges'
import { confidenceReason } from '../../memory/confidence'
import { DecayLine } from '../../memory/DecayLine'
import { EventList } from '../../memory/EventList'
import { Provenance } from '../../memory/Provenance'
import { record } from '../../memory/RuleList'
import { Back } from '../../ui/Back'
import { Confidence } from '../../ui/Confidence'
import { Id } from '../../ui/Id'
import { Loaded } from '../../ui/Loaded'
import { Page } from '../../ui/Page'
import { Properties } from '../../ui/Properties'
import { Section } from '../../ui/Section'
import { Tags } from '../../ui/Tags'
import { Time } from '../../ui/Time'
import { Readers } from '../facts/Readers'
import { Applications, EffectivenessOverTime } from './Applications'
import { MarkButtons } from './MarkButtons'
import { describeNextLevel } from './nextLevel'
import { OriginalContent } from './OriginalContent'

function View({ rule }: { rule: RuleDetail }) {
  const fading = rule.state === 'fading'
  const gone = rule.state === 'forgotten'
  return (
    <Page
      above={<Back to="/rules">Rules</Back>}
      title={rule.content}
      tab="Rule"
      serif
      lead={
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <MaturityBadge maturity={rule.maturity} />
          <StateBadge state={rule.state} />
          <span className="figure">{record(rule)}</span>
          <Confidence value={rule.effective_confidence} fading={fading} gone={gone} why={confidenceReason(rule)} />
        </span>
      }
      actions={
        <>
          {!gone && <MarkButtons id={rule.id} />}
          <Actions kind="rule" id={rule.id} content={rule.content} live={!gone} />
        </>
      }
    >
      <div className="grid gap-x-10 gap-y-8 lg:grid-cols-[minmax(0,1fr)_18rem]">
        <div className="min-w-0 space-y-8">
          <OriginalContent rule={rule} />
          <Section title="Maturity">
            <div className="card space-y-4 p-4 sm:p-5">
              <p className="font-serif text-lg">{describeNextLevel(rule.maturity, rule.next_level?.in_words)}</p>
              <EffectivenessOverTime marks={rule.effectiveness_over_time} />
            </div>
          </Section>
          {rule.harmful_reasons.length > 0 && (
            <Section title="Reasons for harmful marks">
              <ul className="card divide-y divide-line px-4">
                {rule.harmful_reasons.map((reason, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: two reasons may be equal, and the list only grows
                  <li key={index} className="memory-text py-2.5">
                    {reason}
                  </li>
                ))}
              </ul>
            </Section>
          )}
          <Section title="Marks">
            <div className="card px-4 py-2">
              <Applications applications={rule.applications} />
            </div>
          </Section>
          <Section title="Provenance" aside={<SourceBadge source={rule.source} />}>
            <div className="card p-4 sm:p-5">
              <Provenance kind="rule" label={rule.content} links={rule.links} />
            </div>
          </Section>
        </div>
        <div className="min-w-0 space-y-8">
          <Section title="Confidence" quiet>
            <DecayLine decay={rule.decay} />
          </Section>
          <Section title="Reads" quiet>
            <Readers memory={rule} />
          </Section>
          <Section title="Details" quiet>
            <Properties
              rows={[
                ['Scope', rule.scope],
                [
                  'Butler',
                  <Link key="b" to="/butlers/$name/memory" params={{ name: rule.home }} className="link">
                    {rule.home}
                  </Link>,
                ],
                ['Permanence', `${rule.permanence}: ${permanenceDescription[rule.permanence] ?? ''}`],
                ['Last applied', rule.last_applied_at ? <Time key="a" at={rule.last_applied_at} /> : 'never'],
                ['Last confirmed', rule.last_confirmed_at ? <Time key="c" at={rule.last_confirmed_at} /> : 'never'],
                ['Learned', <Time key="l" at={rule.created_at} how="full" />],
                ['Learned by', rule.source_butler ?? 'unknown'],
                ...(rule.tags.length > 0
                  ? [['Tags', <Tags key="t" tags={rule.tags} />] as [string, React.ReactNode]]
                  : []),
                ['Id', <Id key="id">{rule.id}</Id>],
              ]}
            />
          </Section>
          {rule.events.length > 0 && (
            <Section title="Events" quiet>
              <EventList events={rule.events} look="own" />
            </Section>
          )}
        </div>
      </div>
    </Page>
  )
}

export default function RulePage() {
  const { id } = useParams({ from: '/memory/rules/$id' })
  const query = useGet('/api/memory/rules/{id}', { path: { id } })
  return (
    <Loaded query={query} label="the rule">
      {(answer) => <View key={answer.data.id} rule={answer.data} />}
    </Loaded>
  )
}
