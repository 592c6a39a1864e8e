// Logs in by OAuth with the official TypeScript SDK and stores a fact.
// usage: login.mjs URL. Prints the address for the browser, and reads the address that the browser was sent back to.

import assert from "node:assert/strict";
import { createInterface } from "node:readline/promises";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const url = new URL(process.argv[2]);
const kept = {};
const provider = {
  redirectUrl: "http://127.0.0.1:3031/callback",
  clientMetadata: { client_name: "TypeScript SDK", redirect_uris: ["http://127.0.0.1:3031/callback"] },
  clientInformation: () => kept.client,
  saveClientInformation: (client) => void (kept.client = client),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => void (kept.tokens = tokens),
  redirectToAuthorization: (address) => console.log(address.href),
  saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
  codeVerifier: () => kept.verifier,
};

const info = { name: "butler-tests", version: "1.0.0" };
const first = new StreamableHTTPClientTransport(url, { authProvider: provider });
await assert.rejects(new Client(info).connect(first), UnauthorizedError);
const lines = createInterface({ input: process.stdin });
const back = new URL((await lines[Symbol.asyncIterator]().next()).value);
lines.close();
await first.finishAuth(back.searchParams.get("code"));

const client = new Client(info);
await client.connect(new StreamableHTTPClientTransport(url, { authProvider: provider }));
const fact = { subject: "sdk", predicate: "login", content: "logged in with sdk" };
const stored = await client.callTool({ name: "memory_store_fact", arguments: fact });
assert(!stored.isError, JSON.stringify(stored));
assert(kept.tokens.refresh_token);
await client.close();
console.log("ok sdk");
