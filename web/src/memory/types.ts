/** When a fact is true and when the source said it, each in the precision in which it was given. */
export interface FactDates {
  valid_from?: string | null
  valid_to?: string | null
  observed_at?: string | null
}

/** The rows that lists and detail pages share; the generated types of the API are assignable to them. */
export interface FactRow extends FactDates {
  id: string
  subject: string
  predicate: string
  content: string
  scope: string
  state: string
  permanence: string
  importance: number
  confidence: number
  decay_rate: number
  effective_confidence: number
  last_confirmed_at?: string | null
  created_at: string
  home?: string
  entity_id?: string | null
  entity_name?: string | null
  tags: string[]
}

export interface RuleRow {
  id: string
  content: string
  scope: string
  maturity: string
  state?: string
  effective_confidence: number
  effectiveness_score: number
  applied_count: number
  success_count: number
  harmful_count: number
  created_at: string
  home?: string
  tags: string[]
}

export interface EpisodeRow {
  id: string
  butler: string
  content: string
  consolidation_status: string
  retry_count: number
  last_error?: string | null
  created_at: string
  expires_at?: string | null
}
