import { useOverviewButler } from '../../api/overview-butler'
import { chooseButler } from '../../lib/chosenButler'
import { ButlerSelect } from '../../ui/ButlerSelect'
import { Kbd } from '../../ui/Kbd'
import { Page } from '../../ui/Page'
import { CameAgain } from './CameAgain'
import { Conflicts } from './Conflicts'
import { DeadLetters } from './DeadLetters'
import { Duplicates } from './Duplicates'
import { Fading } from './Fading'
import { Proposals } from './Proposals'

const keys: [key: string, action: string][] = [
  ['j', 'next'],
  ['k', 'previous'],
  ['y', 'confirm, approve, keep A, merge, allow or requeue'],
  ['n', 'forget, reject, keep both or keep apart'],
  ['e', 'edit'],
  ['u', 'undo'],
  ['?', 'all shortcuts'],
]

function Legend() {
  return (
    <ul aria-label="Keys" className="flex flex-wrap gap-x-4 gap-y-1 text-sm max-sm:hidden">
      {keys.map(([key, action]) => (
        <li key={key} className="flex items-center gap-1.5">
          <Kbd>{key}</Kbd> {action}
        </li>
      ))}
    </ul>
  )
}

/** Everything that waits for a person's decision. */
export default function InboxPage() {
  const { butler, many } = useOverviewButler()
  return (
    <Page
      title="Inbox"
      actions={many ? <ButlerSelect value={butler} onChange={chooseButler} /> : undefined}
      lead={
        <div className="space-y-3">
          <p>
            What waits for your decision. Until then, a proposal is not recalled, and a conflict is marked in the
            context.
          </p>
          <Legend />
        </div>
      }
    >
      <div className="space-y-10">
        <Proposals />
        <Conflicts />
        <Duplicates />
        <Fading />
        <DeadLetters />
        <CameAgain />
      </div>
    </Page>
  )
}
