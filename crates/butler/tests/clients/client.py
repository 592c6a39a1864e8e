"""Lists and calls the tools with the official Python SDK and with FastMCP.

usage: client.py http URL | client.py stdio COMMAND ARG...
"""

import asyncio
import sys

import fastmcp
from fastmcp.client.transports import StdioTransport
from mcp import Client, StdioServerParameters

TOOLS = {"memory_store_episode", "memory_get", "memory_stats"}


def server():
    kind, *rest = sys.argv[1:]
    if kind == "http":
        return rest[0]
    return StdioServerParameters(command=rest[0], args=rest[1:])


async def official(mode):
    async with Client(server(), mode=mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert TOOLS <= tools.keys(), tools.keys()
        assert tools["memory_get"].annotations.read_only_hint is True, tools["memory_get"]
        assert tools["memory_store_episode"].output_schema, tools["memory_store_episode"]
        stored = await client.call_tool("memory_store_episode", {"content": f"from mcp, {mode}", "butler": "general"})
        assert not stored.is_error, stored
        id = stored.structured_content["id"]
        read = await client.call_tool("memory_get", {"memory_type": "episode", "memory_id": id})
        assert read.structured_content["content"] == f"from mcp, {mode}", read
        wrong = await client.call_tool("memory_get", {"memory_type": "episode", "memory_id": "no-uuid"})
        assert wrong.is_error and "invalid_argument" in wrong.content[0].text, wrong
        print(f"ok mcp {mode} {client.protocol_version}")


async def fast():
    target = server()
    if isinstance(target, StdioServerParameters):
        target = StdioTransport(target.command, target.args)
    async with fastmcp.Client(target) as client:
        names = {tool.name for tool in await client.list_tools()}
        assert TOOLS <= names, names
        stored = await client.call_tool("memory_store_episode", {"content": "from fastmcp", "butler": "general"})
        id = stored.structured_content["id"]
        read = await client.call_tool("memory_get", {"type": "episode", "id": id})
        assert read.structured_content["content"] == "from fastmcp", read
        try:
            await client.call_tool("memory_get", {"memory_type": "episode"})
        except Exception as error:
            assert "memory_id" in str(error), error
        else:
            raise AssertionError("a missing argument must be an error")
        print("ok fastmcp")


async def main():
    for mode in ["legacy", "2026-07-28", "auto"]:
        await official(mode)
    await fast()


asyncio.run(main())
