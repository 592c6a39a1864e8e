// Lists and calls the tools with the official TypeScript SDK, version 1 (protocol 2025) and version 2 (2026).
// usage: client.mjs http URL | client.mjs stdio COMMAND ARG...

import assert from "node:assert/strict";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as Stdio1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as Http1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as Stdio2 } from "@modelcontextprotocol/client/stdio";

const [kind, ...rest] = process.argv.slice(2);

function transport(Http, Stdio) {
  return kind === "http" ? new Http(new URL(rest[0])) : new Stdio({ command: rest[0], args: rest.slice(1), stderr: "ignore" });
}

async function converse(label, client, connection) {
  await client.connect(connection);
  const { tools } = await client.listTools();
  const names = tools.map((tool) => tool.name);
  for (const name of ["memory_store_episode", "memory_get", "memory_stats"]) assert(names.includes(name), name);
  const call = (name, args) => client.callTool({ name, arguments: args });
  const stored = await call("memory_store_episode", { content: `from ${label}`, butler: "general" });
  assert(!stored.isError, JSON.stringify(stored));
  const read = await call("memory_get", { memory_type: "episode", memory_id: stored.structuredContent.id });
  assert.equal(read.structuredContent.content, `from ${label}`);
  const wrong = await call("memory_get", { memory_type: "episode", memory_id: "no-uuid" });
  assert.equal(wrong.isError, true);
  assert.match(wrong.content[0].text, /invalid_argument/);
  await client.close();
  console.log(`ok ${label}`);
}

const info = { name: "butler-tests", version: "1.0.0" };
await converse("sdk", new Client1(info), transport(Http1, Stdio1));
await converse("client", new Client2(info), transport(Http2, Stdio2));
