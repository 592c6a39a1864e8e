/** Command lines that more than one page shows. */
export const createTokenCommand = (rights: string, tenant = 'default') =>
  `butler token create --tenant ${tenant} --rights ${rights}`
