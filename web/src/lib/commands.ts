export interface Server {
  tenant: string
  /** The flags of the server's data and configuration; unknown without the admin right. */
  cli_flags?: string | null
}

/** A command for the server's machine, with the flags that it needs to work on the same butler and tenant. */
export function command(words: string, server?: Server, butler?: string): string {
  const tenant = server && server.tenant !== 'default' ? ` --tenant ${server.tenant}` : ''
  return `butler ${words}${server?.cli_flags ?? ''}${butler ? ` --butler ${butler}` : ''}${tenant}`
}

/** The command that creates a token. Who needs it does not know the flags of the server, which only an admin sees. */
export const createTokenCommand = (rights: string, tenant = 'default') =>
  `butler token create --tenant ${tenant} --rights ${rights}`
