"""A proxy in front of the model that records every answer. With `plain` it rejects response_format, as many servers do."""

import http.client
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class RecordingProxy:
    def __init__(self, port, plain):
        self.answers, self.refused, self.broken = [], 0, []
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if plain and "response_format" in json.loads(body):
                    proxy.refused += 1
                    return self.answer(400, json.dumps({"error": "response_format is not supported"}).encode())
                model = http.client.HTTPConnection("127.0.0.1", port, timeout=1200)
                model.request("POST", self.path, body, {"Content-Type": "application/json"})
                reply = model.getresponse()
                content = reply.read()
                proxy.record(reply.status, content)
                self.answer(reply.status, content)

            def answer(self, status, content):
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def record(self, status, content):
        if status == 200:
            choice = json.loads(content)["choices"][0]
            self.answers.append({"text": choice["message"]["content"] or "", "finish": choice["finish_reason"]})
        else:
            self.broken.append(f"{status}: {content.decode(errors='replace')[:300]}")

    def take(self):
        """Returns the answers since the last call."""
        taken, self.answers = self.answers, []
        return taken

    def close(self):
        self.server.shutdown()
