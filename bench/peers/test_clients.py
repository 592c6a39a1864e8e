"""The bench's own clients against peers that close connections and that die: `python3 -B -m unittest peers.test_clients`."""

import sys
import tempfile
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from common.processes import Process

from .rest import Rest
from .stdio import StdioTools

# answers the handshake, then says why it ends in the middle of the next request
DYING = """
import sys
print('{"jsonrpc":"2.0","id":1,"result":{}}', flush=True)
sys.stdin.readline(), sys.stdin.readline(), sys.stdin.readline()
sys.exit("the disk is on fire")
"""
ENDED = "import sys; sys.exit('no more room')"


class Closing(ThreadingHTTPServer):
    """Keeps a connection alive by its words, and closes it after each answer, as one does that was idle too long."""

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

    def test_a_connection_that_the_peer_closed_is_opened_anew(self):
        server = Closing()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        rest = Rest(f"127.0.0.1:{server.server_address[1]}")
        for _ in range(3):
            self.assertEqual(rest.post("/", {}), {})
            self.assertTrue(server.closed.acquire(timeout=60))
        self.assertEqual(server.served, 3)

    def test_a_rest_peer_that_died_is_told_with_its_last_words(self):
        process = Process([sys.executable, "-c", ENDED], self.log)
        process.child.wait(60)
        # nobody listens there
        rest = Rest("127.0.0.1:1", process)
        with self.assertRaisesRegex(RuntimeError, "POST /: .*ended with 1.*no more room"):
            rest.post("/", {})

    def test_a_stdio_peer_that_died_is_told_at_once_with_its_last_words(self):
        tools = StdioTools([sys.executable, "-c", DYING], self.log)
        self.addCleanup(tools.process.stop)
        for _ in range(2):
            with self.assertRaisesRegex(RuntimeError, "ended with 1.*the disk is on fire"):
                tools.call("any", {})


if __name__ == "__main__":
    unittest.main()
