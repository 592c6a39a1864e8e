"""A minimal HTTP server around mem0's library, with one add and one search. Runs in mem0's environment.

usage: mem0_server.py PORT DATABASE_URL ENDPOINT HISTORY
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from mem0 import Memory

port, database, endpoint, history = sys.argv[1:]
memory = Memory.from_config({
    "vector_store": {"provider": "pgvector", "config": {
        "connection_string": database, "collection_name": "bench", "embedding_model_dims": 384, "hnsw": True,
        "minconn": 1, "maxconn": 8}},
    "embedder": {"provider": "openai", "config": {
        "model": "all-MiniLM-L6-v2", "embedding_dims": 384, "openai_base_url": endpoint, "api_key": "none"}},
    "llm": {"provider": "openai", "config": {"model": "none", "api_key": "none", "openai_base_url": endpoint}},
    "history_db_path": history,
})


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        self.answer(200, {})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            if self.path == "/add":
                self.answer(200, memory.add(body["text"], user_id="bench", infer=False))
            else:
                found = memory.search(body["query"], filters={"user_id": "bench"}, top_k=body["limit"])
                self.answer(200, [hit["memory"] for hit in found["results"]])
        except Exception as error:
            self.answer(500, {"error": repr(error)})

    def answer(self, status, content):
        text = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
