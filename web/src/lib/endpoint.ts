/** An address of this server as a client would be given it. */
export function endpoint(path: string): string {
  return `${window.location.origin}${path}`
}
