"""The systems, each with its own interface: how to install, start and call it.

`store(text)` returns when the system has acknowledged the text. `search(question, limit)` returns texts, best first.
"""

import json
import sys
import threading
from pathlib import Path

from common.butler import Butler
from common.install import cache_dir, environment, python_that, run, version
from common.processes import Process, free_port, resident_mb

from .postgres import Postgres
from .rest import Rest
from .stdio import StdioTools

MODEL = "all-MiniLM-L6-v2"
DIMENSIONS = "384"


class System:
    """The interface of a system."""

    name = about = ""
    # whether it does the same work: semantic search in memories on disk, over a network
    comparable = True

    def __init__(self, bench):
        self.bench, self.parts = bench, []

    def install(self):
        pass

    def resident_mb(self):
        return sum(resident_mb(part.child.pid) for part in self.parts)

    def stop(self):
        for part in reversed(self.parts):
            part.stop()


class ButlerMemory(System):
    name = "butler"
    about = "MCP over HTTP: memory_store_episode, memory_search"

    def start(self, folder):
        self.server = Butler(self.bench.butler, folder / "data")
        self.parts, self.local = [self.server], threading.local()

    def tools(self):
        if not hasattr(self.local, "tools"):
            self.local.tools = self.server.tools()
        return self.local.tools

    def store(self, text):
        self.tools().call("memory_store_episode", content=text, butler="bench")

    def search(self, question, limit):
        found = self.tools().call("memory_search", query=question, types=["episode"], limit=limit)
        return [hit["content"] for hit in found["results"]]

    def resident_mb(self):
        # its PostgreSQL is not its child process
        postmaster = (self.server.data / "postgres" / "postmaster.pid").read_text().split()[0]
        return super().resident_mb() + resident_mb(int(postmaster))


class Mem0(System):
    name = "mem0"
    about = "HTTP around its library (PyPI has no server of it): add(infer=False), search; pgvector"

    def install(self):
        self.home = environment("mem0", "mem0ai", "psycopg[binary,pool]")
        return version(self.home, "mem0ai")

    def start(self, folder):
        database = Postgres(self.bench.hold, folder)
        self.parts = [database]
        port = free_port()
        env = {"MEM0_DIR": str(folder / "mem0"), "MEM0_TELEMETRY": "False", "OPENAI_API_KEY": "none"}
        server = Process([self.home / "bin/python", "-B", Path(__file__).with_name("mem0_server.py"), port,
                          database.database("mem0"), self.bench.endpoint, folder / "history.db"], folder / "mem0.log", env)
        self.parts.append(server)
        server.wait_for(f"http://127.0.0.1:{port}/", 600)
        self.rest = Rest(f"127.0.0.1:{port}", server)

    def store(self, text):
        self.rest.post("/add", {"text": text})

    def search(self, question, limit):
        return self.rest.post("/search", {"query": question, "limit": limit})

    def resident_mb(self):
        return super().resident_mb() + resident_mb(self.parts[0].pid)


class Hindsight(System):
    name = "Hindsight"
    about = "REST: retain (LLM provider none: chunks), recall; its reranker is rank fusion; pgvector"

    def install(self):
        # the distribution without torch, because the vectors come from the benchmark's endpoint
        self.home = environment("hindsight", "hindsight-api-slim")
        return version(self.home, "hindsight-api-slim")

    def start(self, folder):
        database = Postgres(self.bench.hold, folder)
        self.parts = [database]
        port = free_port()
        env = {
            "HINDSIGHT_API_DATABASE_URL": database.database("hindsight"), "HINDSIGHT_API_LLM_PROVIDER": "none",
            "HINDSIGHT_API_EMBEDDINGS_PROVIDER": "openai", "HINDSIGHT_API_EMBEDDINGS_OPENAI_API_KEY": "none",
            "HINDSIGHT_API_EMBEDDINGS_OPENAI_MODEL": MODEL, "HINDSIGHT_API_EMBEDDINGS_OPENAI_BASE_URL": self.bench.endpoint,
            "HINDSIGHT_API_RERANKER_PROVIDER": "rrf", "HINDSIGHT_API_HOST": "127.0.0.1", "HINDSIGHT_API_PORT": str(port),
            "HINDSIGHT_API_LOG_LEVEL": "warning",
        }
        server = Process([self.home / "bin/hindsight-api"], folder / "hindsight.log", env, cwd=folder)
        self.parts.append(server)
        server.wait_for(f"http://127.0.0.1:{port}/health", 600)
        self.rest, self.bank = Rest(f"127.0.0.1:{port}", server), "/v1/default/banks/bench/memories"

    def store(self, text):
        self.rest.post(self.bank, {"items": [{"content": text}], "async": False})

    def search(self, question, limit):
        found = self.rest.post(self.bank + "/recall", {"query": question, "budget": "low", "max_tokens": 100 * limit})
        return [hit["text"] for hit in found["results"][:limit]]

    def resident_mb(self):
        return super().resident_mb() + resident_mb(self.parts[0].pid)


class McpMemoryService(System):
    name = "mcp-memory-service"
    about = "REST: /api/memories, /api/search; sqlite-vec; semantic deduplication and quality scoring off"

    def install(self):
        # sqlite-vec is an extension, which not every Python's SQLite can load
        python = python_that("import sqlite3; sqlite3.connect(':memory:').enable_load_extension(True)")
        self.home = environment("mcp-memory-service", "mcp-memory-service", python=python)
        return version(self.home, "mcp-memory-service")

    def start(self, folder):
        port = free_port()
        env = {
            "MCP_MEMORY_STORAGE_BACKEND": "sqlite_vec", "MCP_MEMORY_SQLITE_PATH": str(folder / "memory.db"),
            "MCP_MEMORY_BASE_DIR": str(folder), "MCP_EXTERNAL_EMBEDDING_URL": f"{self.bench.endpoint}/embeddings",
            "MCP_EXTERNAL_EMBEDDING_MODEL": MODEL, "MCP_SEMANTIC_DEDUP_ENABLED": "false",
            "MCP_QUALITY_SYSTEM_ENABLED": "false", "MCP_CONSOLIDATION_ENABLED": "false", "MCP_MDNS_ENABLED": "false",
            "MCP_ALLOW_ANONYMOUS_ACCESS": "true", "MCP_OAUTH_ENABLED": "false", "MCP_BACKUP_ENABLED": "false",
            "HF_HUB_OFFLINE": "1",
        }
        server = Process([self.home / "bin/memory", "server", "--http", "--http-host", "127.0.0.1", "--http-port", port],
                         folder / "service.log", env, cwd=folder)
        self.parts = [server]
        server.wait_for(f"http://127.0.0.1:{port}/api/health", 600)
        self.rest = Rest(f"127.0.0.1:{port}", server)

    def store(self, text):
        answer = self.rest.post("/api/memories", {"content": text})
        if not answer.get("success", True):
            raise RuntimeError(f"not stored: {answer}")

    def search(self, question, limit):
        found = self.rest.post("/api/search", {"query": question, "n_results": limit})
        return [hit["memory"]["content"] for hit in found["results"]]


class OfficialServer(System):
    name = "MCP memory server"
    about = "MCP over stdio: create_entities, search_nodes; a file of JSON lines, search by substring"
    comparable = False

    def install(self):
        home = cache_dir() / "node" / "server-memory"
        package = home / "node_modules/@modelcontextprotocol/server-memory"
        if not package.exists():
            print("installing @modelcontextprotocol/server-memory", file=sys.stderr, flush=True)
            home.mkdir(parents=True, exist_ok=True)
            (home / "package.json").write_text("{}")
            run(["npm", "install", "--no-audit", "--no-fund", "@modelcontextprotocol/server-memory"], cwd=home)
        self.program = package / "dist/index.js"
        return json.loads((package / "package.json").read_text())["version"]

    def start(self, folder):
        env = {"MEMORY_FILE_PATH": str(folder / "memory.jsonl")}
        self.tools = StdioTools(["node", self.program], folder / "node.log", env)
        self.parts = [self.tools.process]

    def store(self, text):
        entity = {"name": text, "entityType": "memory", "observations": [text]}
        self.tools.call("create_entities", {"entities": [entity]})

    def search(self, question, limit):
        result = self.tools.call("search_nodes", {"query": question})
        graph = result.get("structuredContent") or json.loads(result["content"][0]["text"])
        return [entity["name"] for entity in graph["entities"][:limit]]


ALL = [ButlerMemory, Mem0, Hindsight, McpMemoryService, OfficialServer]
