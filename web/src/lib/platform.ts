const isApple = typeof navigator !== 'undefined' && /Mac|iPhone|iPad/.test(navigator.platform)

/** The key of shortcuts, as the user's keyboard names it. */
export const modifier = isApple ? '⌘' : 'Ctrl'
