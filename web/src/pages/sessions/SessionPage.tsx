import { useParams } from '@tanstack/react-router'
import { useGet } from '../../api/hooks'
import { EpisodeList } from '../../memory/EpisodeList'
import { ServedCall } from '../../memory/Served'
import { Back } from '../../ui/Back'
import { Id } from '../../ui/Id'
import { Page } from '../../ui/Page'
import { Results } from '../../ui/Results'
import { Section } from '../../ui/Section'
import { Empty } from '../../ui/states'
import { usePaging } from '../inbox/usePaging'

const isUuid = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

/** What a session stored, and what was served to it. */
export default function SessionPage() {
  const { id } = useParams({ from: '/memory/sessions/$id' })
  const stored = usePaging()
  const served = usePaging()
  // An agent may name its session as it likes, but episodes have ids only.
  const known = isUuid(id)
  const episodes = useGet(
    '/api/memory/episodes',
    { query: { ...stored.page, session_id: id } },
    { enabled: known, keepPrevious: true },
  )
  const calls = useGet('/api/memory/injections', { query: { ...served.page, session_id: id } }, { keepPrevious: true })
  const nothing = <Empty title="Nothing stored">The session stored no episode, or it has expired.</Empty>
  return (
    <Page
      above={<Back to="/memory/episodes">Episodes</Back>}
      title="Session"
      lead={
        <>
          What the session stored, and which memories were served to it. <Id>{id}</Id>
        </>
      }
    >
      <div className="grid gap-x-10 gap-y-8 lg:grid-cols-2">
        <Section title="Stored">
          {known ? (
            <Results query={episodes} of="episodes" onMove={stored.setOffset} empty={nothing}>
              {(rows) => <EpisodeList episodes={rows} compact />}
            </Results>
          ) : (
            nothing
          )}
        </Section>
        <Section title="Served to it">
          <Results
            query={calls}
            of="calls"
            hideUnavailable
            onMove={served.setOffset}
            empty={<Empty title="Nothing served">No memory was recalled for this session.</Empty>}
          >
            {(rows) => (
              <ul aria-label="Calls" className="card divide-y divide-line">
                {rows.map((call) => (
                  <ServedCall key={call.id} call={call} />
                ))}
              </ul>
            )}
          </Results>
        </Section>
      </div>
    </Page>
  )
}
