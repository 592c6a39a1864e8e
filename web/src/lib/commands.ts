/** Commands that more than one page shows. */
export const createToken = (rights: string, tenant = 'default') =>
  `butler token create --tenant ${tenant} --rights ${rights}`
