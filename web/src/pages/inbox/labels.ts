/** Why a text is suspicious, by the kinds of the API. */
export const reasonLabel: Record<string, string> = {
  override: 'Tells the agent to drop its instructions',
  command: 'Gives the agent a lasting order',
  role_play: 'Gives the agent another role',
  tool_call: 'Imitates a tool call',
  hidden_unicode: 'Hides text in invisible characters',
  blob: 'Hides text in an encoding',
  exfiltration: 'Asks to send data away',
}

/** In what two facts differ, or where they repeat each other. */
export const whyLabel: Record<string, string> = {
  number: 'different numbers',
  date: 'different dates',
  negation: 'one denies the other',
  opposite: 'opposite words',
  near_identical: 'almost the same statement',
  scopes: 'different values in two scopes',
  subjects: 'different values under two subjects of one entity',
}

/** What a language model says two facts are. */
export const verdictLabel: Record<string, string> = {
  contradiction: 'contradiction',
  duplicate: 'duplicate',
  both_true: 'both are true',
  unrelated: 'unrelated',
}
