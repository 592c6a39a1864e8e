"""A minimal MCP client: JSON-RPC by POST on one keep-alive connection."""

import json

from .http import Connection


class ToolError(Exception):
    pass


class HttpTools:
    """The tools of an MCP server over HTTP, with or without a session."""

    def __init__(self, address, path="/mcp", timeout=3600, process=None):
        self.path, self.calls, self.session = path, 0, None
        self.connection = Connection(address, timeout, process)

    def open(self):
        """Performs the handshake. A server without sessions needs none."""
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        self.request("initialize", hello)
        self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def call(self, tool, **arguments):
        """Calls a tool and returns its answer. A tool error is an exception."""
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            raise ToolError(f"{tool}: {result.get('content')}")
        if "structuredContent" in result:
            return result["structuredContent"]
        text = result["content"][0]["text"]
        try:
            return json.loads(text)
        except ValueError:
            return text

    def request(self, method, params):
        self.calls += 1
        answer = self.post({"jsonrpc": "2.0", "id": self.calls, "method": method, "params": params})
        if answer is None or "error" in answer:
            raise ToolError(f"{method}: {answer}")
        return answer["result"]

    def post(self, message):
        headers = {
            "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2025-06-18",
        }
        if self.session:
            headers["Mcp-Session-Id"] = self.session
        answer, body = self.connection.post(self.path, json.dumps(message), headers)
        self.session = answer.headers.get("Mcp-Session-Id", self.session)
        body = body.decode()
        if answer.status >= 400:
            raise ToolError(f"HTTP {answer.status}: {body[:300]}")
        if answer.headers.get_content_type() == "text/event-stream":
            body = "".join(line[5:] for line in body.splitlines() if line.startswith("data:"))
        return json.loads(body) if body.strip() else None
