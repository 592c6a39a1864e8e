import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { relationLabel } from '../memory/links'
import { entityTypes, eventKinds, maturities, permanences, states, statuses } from '../pages/search'
import {
  maturityGlyph,
  maturityLabel,
  permanenceDescription,
  permanenceGlyph,
  statusGlyph,
  statusLabel,
} from './labels'

interface Schema {
  enum?: string[]
  const?: string
  oneOf?: Schema[]
}
const { schemas } = JSON.parse(readFileSync('../docs/openapi.json', 'utf8')).components as {
  schemas: Record<string, Schema>
}

/** The values that the API document lists for a type. */
function valuesOf(name: string): string[] {
  const collect = (schema: Schema | undefined): string[] => [
    ...(schema?.enum ?? []),
    ...(schema?.const ? [schema.const] : []),
    ...(schema?.oneOf ?? []).flatMap(collect),
  ]
  const values = collect(schemas[name])
  expect(values.length, name).toBeGreaterThan(1)
  return values.toSorted()
}

test('every value of the API has a label and a glyph, and no label is left over', () => {
  const tables: [name: string, ...tables: Record<string, string>[]][] = [
    ['Maturity', maturityLabel, maturityGlyph],
    ['ConsolidationStatus', statusLabel, statusGlyph],
    ['Permanence', permanenceDescription, permanenceGlyph],
  ]
  for (const [name, ...labels] of tables) {
    for (const table of labels) expect(Object.keys(table).toSorted(), name).toEqual(valuesOf(name))
  }
})

test('every relation of the API has a label in both directions', () => {
  const unlabelled = (relation: string) => relation.replaceAll('_', ' ')
  for (const relation of valuesOf('Relation').filter((name) => name !== 'related_to')) {
    expect(relationLabel({ side: 'incoming', relation }), relation).not.toBe(unlabelled(relation))
  }
  expect(relationLabel({ side: 'outgoing', relation: 'derived_from' })).not.toBe('derived from')
})

test('the filters offer exactly the values of the API', () => {
  const offered: [name: string, values: readonly string[]][] = [
    ['Maturity', maturities],
    ['ConsolidationStatus', statuses],
    ['Permanence', permanences],
    ['EntityType', entityTypes],
    ['FoundKind', eventKinds],
    ['FactState', states.filter((state) => state !== 'all')],
  ]
  for (const [name, values] of offered) expect(values.toSorted(), name).toEqual(valuesOf(name))
})
