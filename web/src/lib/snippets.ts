import { command, type Server } from './commands'

export interface Snippet {
  client: string
  instruction: string
  text: string
}

/** Stands for the token in a configuration. */
const YOUR_TOKEN = 'YOUR_TOKEN'

function claudeCode(url: string, token: string | null): Snippet {
  const header = token ? ` --header "Authorization: Bearer ${token}"` : ''
  return {
    client: 'Claude Code',
    instruction: 'In a terminal:',
    text: `claude mcp add --transport http butler-memory ${url}${header}`,
  }
}

/** The clients that `butler connect` can configure. */
export const connectable: Record<string, string> = {
  'Claude Code': 'claude-code',
  'Claude Desktop': 'claude-desktop',
  Cursor: 'cursor',
  'VS Code': 'vscode',
}

/** The command that configures a client on the server's machine; none if `butler connect` does not know the client. */
export function connectCommand(client: string, server?: Server, butler?: string): string | undefined {
  const name = connectable[client]
  return name && command(`connect ${name}`, server, butler)
}

/** The configuration that connects each client to this server. */
export function snippets(url: string, withToken: boolean | string, butler?: string, host?: Server): Snippet[] {
  const token = withToken === true ? YOUR_TOKEN : withToken || null
  const server = token ? { type: 'http', url, headers: { Authorization: `Bearer ${token}` } } : { type: 'http', url }
  const json = (value: unknown) => JSON.stringify(value, null, 2)
  return [
    claudeCode(url, token),
    {
      client: 'Claude Desktop',
      instruction: 'Run this command. It writes the configuration and backs up the old one:',
      text: command('connect claude-desktop', host, butler),
    },
    { client: 'Cursor', instruction: 'In .cursor/mcp.json:', text: json({ mcpServers: { 'butler-memory': server } }) },
    { client: 'VS Code', instruction: 'In .vscode/mcp.json:', text: json({ servers: { 'butler-memory': server } }) },
    {
      client: 'Other',
      instruction: 'Use Streamable HTTP at this URL, or stdio with this command:',
      text: [url, ...(token ? [`Authorization: Bearer ${token}`] : []), command('mcp', host, butler)].join('\n'),
    },
  ]
}
