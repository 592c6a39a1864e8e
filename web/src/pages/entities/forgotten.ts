import type { Answer } from '../../api/client'

export type Forgotten = Answer<'/api/memory/entities/{id}/forget', 'post'>['data']

/** The mentions that go: those of the preview without the kept ones. The server would take omitted lists as "all". */
export function chosenIds({ mentions }: Pick<Forgotten, 'mentions'>, kept: ReadonlySet<string>) {
  const ids = (list: { id: string }[]) => list.map(({ id }) => id).filter((id) => !kept.has(id))
  return { fact_ids: ids(mentions.facts), rule_ids: ids(mentions.rules), episode_ids: ids(mentions.episodes) }
}
