export interface Snippet {
  client: string
  instruction: string
  text: string
}

export function claudeCode(url: string, withToken: boolean): Snippet {
  const header = withToken ? ' --header "Authorization: Bearer YOUR_TOKEN"' : ''
  return {
    client: 'Claude Code',
    instruction: 'In a terminal:',
    text: `claude mcp add --transport http butler-memory ${url}${header}`,
  }
}

/** The configuration that connects each client to this server. */
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
      instruction: 'Run this command. It writes the configuration and backs up the old one:',
      text: `butler connect claude-desktop${which}`,
    },
    { client: 'Cursor', instruction: 'In .cursor/mcp.json:', text: json({ mcpServers: { 'butler-memory': server } }) },
    { client: 'VS Code', instruction: 'In .vscode/mcp.json:', text: json({ servers: { 'butler-memory': server } }) },
    {
      client: 'Other',
      instruction: 'Use Streamable HTTP at this URL, or stdio with this command:',
      text: [url, ...(withToken ? ['Authorization: Bearer YOUR_TOKEN'] : []), `butler mcp${which}`].join('\n'),
    },
  ]
}
