"""The clients with systems that close connections or exit: `python3 -B -m unittest peers.test_clients`."""

import sys
import tempfile
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from common.processes import Process

from .rest import Rest
from .stdio import StdioTools

# answers the handshake, then exits with a message during the next request
DYING = """
import sys
print('{"jsonrpc":"2.0","id":1,"result":{}}', flush=True)
sys.stdin.readline(), sys.stdin.readline(), sys.stdin.readline()
sys.exit("the disk is on fire")
"""
ENDED = "import sys; sys.exit('no more room')"


class Closing(ThreadingHTTPServer):
    """Announces keep-alive but closes the connection after each response, as servers do after an idle timeout."""

    def __init__(self):
        self.served, self.closed = 0, threading.Semaphore(0)
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                server.served += 1
                self.send_response(200)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")
                self.close_connection = True

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def shutdown_request(self, request):
        super().shutdown_request(request)
        self.closed.release()


class Clients(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.log = Path(folder.name) / "peer.log"

    def test_a_closed_connection_is_opened_again(self):
        server = Closing()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        rest = Rest(f"127.0.0.1:{server.server_address[1]}")
        for _ in range(3):
            self.assertEqual(rest.post("/", {}), {})
            self.assertTrue(server.closed.acquire(timeout=60))
        self.assertEqual(server.served, 3)

    def test_the_error_contains_the_last_output_of_a_rest_server(self):
        process = Process([sys.executable, "-c", ENDED], self.log)
        process.child.wait(60)
        # a port on which nothing listens
        rest = Rest("127.0.0.1:1", process)
        with self.assertRaisesRegex(RuntimeError, "POST /: .*exited with 1.*no more room"):
            rest.post("/", {})

    def test_the_error_contains_the_last_output_of_a_stdio_server(self):
        tools = StdioTools([sys.executable, "-c", DYING], self.log)
        self.addCleanup(tools.process.stop)
        for _ in range(2):
            with self.assertRaisesRegex(RuntimeError, "exited with 1.*the disk is on fire"):
                tools.call("any", {})


if __name__ == "__main__":
    unittest.main()
