import type { Answer } from '../../api/client'

export type Forgotten = Answer<'/api/memory/entities/{id}/forget', 'post'>['data']

/**
 * The mentions that go: those of the preview without the kept ones. The preview lists at most 100 of each type.
 * If there are more and none is kept, the list is omitted, which means all of them.
 */
export function chosenIds({ mentions }: Pick<Forgotten, 'mentions'>, kept: ReadonlySet<string>) {
  const ids = (type: 'facts' | 'rules' | 'episodes') => {
    const listed = mentions[type].map(({ id }) => id)
    const chosen = listed.filter((id) => !kept.has(id))
    return chosen.length === listed.length && mentions.totals[type] > listed.length ? undefined : chosen
  }
  return { fact_ids: ids('facts'), rule_ids: ids('rules'), episode_ids: ids('episodes') }
}
