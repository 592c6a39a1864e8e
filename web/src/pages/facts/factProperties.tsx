import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { FactDetailAt as FactDetail } from '../../api/schema'
import { briefDate } from '../../lib/dates'
import { permanenceDescription } from '../../lib/labels'
import { Id } from '../../ui/Id'
import { Tags } from '../../ui/Tags'
import { Time } from '../../ui/Time'

export function factProperties(fact: FactDetail): [string, ReactNode][] {
  const dates: [string, string | null | undefined][] = [
    ['Valid from', fact.valid_from],
    ['Valid until', fact.valid_to],
    ['Observed', fact.observed_at],
  ]
  return [
    ...dates.flatMap(([name, at]): [string, ReactNode][] => (at ? [[name, briefDate(at)]] : [])),
    ['Scope', fact.scope],
    [
      'Butler',
      <Link key="b" to="/butlers/$name/memory" params={{ name: fact.home }} className="link">
        {fact.home}
      </Link>,
    ],
    [
      'Importance',
      <span key="i" className="figure">
        {fact.importance} of 10
      </span>,
    ],
    ['Permanence', `${fact.permanence}: ${permanenceDescription[fact.permanence] ?? ''}`],
    ['Last confirmed', fact.last_confirmed_at ? <Time key="c" at={fact.last_confirmed_at} /> : 'never'],
    ['Learned', <Time key="l" at={fact.created_at} how="full" />],
    ...(fact.source_butler ? [['Learned by', fact.source_butler] as [string, ReactNode]] : []),
    ...(fact.entity_id && fact.entity_name
      ? [
          [
            'About',
            <Link key="e" to="/entities/$id" params={{ id: fact.entity_id }} className="link">
              {fact.entity_name}
            </Link>,
          ] as [string, ReactNode],
        ]
      : []),
    ...(fact.tags.length > 0 ? [['Tags', <Tags key="t" tags={fact.tags} />] as [string, ReactNode]] : []),
    ['Id', <Id key="id">{fact.id}</Id>],
  ]
}
