export interface Snippet {
  client: string
  how: string
  text: string
}

export function claudeCode(url: string, withToken: boolean): Snippet {
  const header = withToken ? ' --header "Authorization: Bearer YOUR_TOKEN"' : ''
  return {
    client: 'Claude Code',
    how: 'In a terminal:',
    text: `claude mcp add --transport http butler-memory ${url}${header}`,
  }
}

/** What connects each client to this server, as the client wants it. */
export function snippets(url: string, withToken: boolean, butler?: string): Snippet[] {
  const server = withToken
    ? { type: 'http', url, headers: { Authorization: 'Bearer YOUR_TOKEN' } }
    : { type: 'http', url }
  const which = butler ? ` --butler ${butler}` : ''
  const json = (value: unknown) => JSON.stringify(value, null, 2)
  return [
    claudeCode(url, withToken),
    {
      client: 'Claude Desktop',
      how: 'butler writes its configuration (and keeps a backup):',
      text: `butler connect claude-desktop${which}`,
    },
    { client: 'Cursor', how: 'In .cursor/mcp.json:', text: json({ mcpServers: { 'butler-memory': server } }) },
    { client: 'VS Code', how: 'In .vscode/mcp.json:', text: json({ servers: { 'butler-memory': server } }) },
    {
      client: 'Any other',
      how: 'Streamable HTTP at this address, or over stdio:',
      text: [url, ...(withToken ? ['Authorization: Bearer YOUR_TOKEN'] : []), `butler mcp${which}`].join('\n'),
    },
  ]
}
