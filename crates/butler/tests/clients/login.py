"""Logs in by OAuth with the official Python SDK and stores a fact.

usage: login.py URL. Prints the address for the browser, and reads the address that the browser was sent back to.
"""

import asyncio
import sys
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata


class Storage:
    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client_info):
        self.client = client_info


async def open_browser(address):
    print(address, flush=True)


async def come_back():
    line = await asyncio.to_thread(sys.stdin.readline)
    query = {name: values[0] for name, values in parse_qs(urlsplit(line.strip()).query).items()}
    return AuthorizationCodeResult(code=query["code"], state=query.get("state"), iss=query.get("iss"))


async def main(url):
    storage = Storage()
    metadata = OAuthClientMetadata(client_name="Python SDK", redirect_uris=["http://localhost:3030/callback"])
    auth = OAuthClientProvider(url, metadata, storage, open_browser, come_back)
    async with httpx2.AsyncClient(auth=auth) as http_client:
        async with Client(streamable_http_client(url, http_client=http_client)) as client:
            fact = {"subject": "sdk", "predicate": "login", "content": "logged in with mcp"}
            stored = await client.call_tool("memory_store_fact", fact)
            assert not stored.is_error, stored
    assert storage.tokens.refresh_token, storage.tokens
    print("ok mcp")


asyncio.run(main(sys.argv[1]))
