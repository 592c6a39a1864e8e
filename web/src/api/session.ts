/** The bearer token and the tenant that every request carries. Both are kept for this tab only. */
const TOKEN = 'butler.token'
const TENANT = 'butler.tenant'

type Listener = () => void
const listeners = new Set<Listener>()

function changed() {
  for (const listener of listeners) listener()
}

export const session = {
  token: () => sessionStorage.getItem(TOKEN),
  tenant: () => sessionStorage.getItem(TENANT),
  setToken(token: string | null) {
    if (token) sessionStorage.setItem(TOKEN, token)
    else sessionStorage.removeItem(TOKEN)
    // a token belongs to one tenant; the server would reject a tenant that was selected before
    sessionStorage.removeItem(TENANT)
    changed()
  },
  setTenant(tenant: string | null) {
    if (tenant && tenant !== 'default') sessionStorage.setItem(TENANT, tenant)
    else sessionStorage.removeItem(TENANT)
    changed()
  },
  subscribe(listener: Listener) {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
}

export function sessionHeaders(): Record<string, string> {
  const token = session.token()
  const tenant = session.tenant()
  return {
    ...(token ? { Authorization: `Bearer ${token}` } : {}),
    ...(tenant ? { 'X-Butler-Tenant': tenant } : {}),
  }
}
