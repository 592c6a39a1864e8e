// Lists and calls the tools with the CLI of the MCP inspector, one process per call.
// usage: inspector.mjs http URL | inspector.mjs stdio COMMAND ARG...

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const [kind, ...target] = process.argv.slice(2);
const launcher = fileURLToPath(new URL("node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js", import.meta.url));

function inspect(...flags) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [launcher, "--cli", ...target, ...flags], { encoding: "utf8" });
  return { status, stderr, answer: stdout ? JSON.parse(stdout) : undefined };
}

function call(name, args) {
  const pairs = Object.entries(args).map(([key, value]) => `${key}=${value}`);
  return inspect("--method", "tools/call", "--tool-name", name, ...(pairs.length ? ["--tool-arg", ...pairs] : []));
}

// --strict fails if a schema is not portable to other clients and models.
const { status, stderr, answer: listed } = inspect("--method", "tools/list", "--strict");
assert.equal(status, 0, stderr);
assert(listed.tools.some((tool) => tool.name === "memory_get"), JSON.stringify(listed));
const inputs = stderr.split("\n").filter((line) => line.includes("Path: inputSchema"));
assert.deepEqual(inputs, [], "input schemas are portable without warnings");
const content = `from the inspector over ${kind}`;
const stored = call("memory_store_episode", { content, butler: "general" }).answer;
assert.equal(stored.isError, false, JSON.stringify(stored));
const read = call("memory_get", { memory_type: "episode", memory_id: stored.structuredContent.id }).answer;
assert.equal(read.structuredContent.content, content);
const wrong = call("memory_get", { memory_type: "episode", memory_id: "no-uuid" });
assert.equal(wrong.status, 5, "a tool error has its own exit status");
assert.match(wrong.answer.content[0].text, /invalid_argument/);
const { answer: resources } = inspect("--method", "resources/list");
assert(resources.resources.some((resource) => resource.uri === "memory://stats"), JSON.stringify(resources));
const { answer: stats } = inspect("--method", "resources/read", "--uri", "memory://stats");
assert(JSON.parse(stats.contents[0].text).episodes.total > 0, JSON.stringify(stats));
const { answer: prompt } = inspect("--method", "prompts/get", "--prompt-name", "recall", "--prompt-args", "topic=tea");
assert.match(prompt.messages[0].content.text, /tea/);
console.log("ok inspector");
