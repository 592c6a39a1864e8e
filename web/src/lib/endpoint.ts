/** The absolute URL of a path on this server. */
export function endpoint(path: string): string {
  return `${window.location.origin}${path}`
}
