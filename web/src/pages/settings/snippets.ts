export interface Snippet {
  client: string
  how: string
  text: string
}

/** What connects each client to this server, as the client wants it. */
export function snippets(url: string, withToken: boolean): Snippet[] {
  const header = withToken ? ' --header "Authorization: Bearer YOUR_TOKEN"' : ''
  const server = withToken ? { type: 'http', url, headers: { Authorization: 'Bearer YOUR_TOKEN' } } : { type: 'http', url }
  const json = (value: unknown) => JSON.stringify(value, null, 2)
  return [
    { client: 'Claude Code', how: 'In a terminal:', text: `claude mcp add --transport http butler-memory ${url}${header}` },
    { client: 'Claude Desktop', how: 'butler writes its configuration (and keeps a backup):', text: 'butler connect claude-desktop' },
    { client: 'Cursor', how: 'In .cursor/mcp.json:', text: json({ mcpServers: { 'butler-memory': server } }) },
    { client: 'VS Code', how: 'In .vscode/mcp.json:', text: json({ servers: { 'butler-memory': server } }) },
    { client: 'Any other', how: 'Streamable HTTP at this address, or over stdio:', text: `${url}\nbutler mcp` },
  ]
}
