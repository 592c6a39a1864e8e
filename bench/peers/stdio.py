"""An MCP server on standard input and output, used by several threads."""

import json
import subprocess
import threading

from common.processes import Process


class StdioTools:
    def __init__(self, command, log, env=None):
        self.process = Process(command, log, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.calls, self.lock, self.waiting, self.ended = 0, threading.Lock(), {}, False
        threading.Thread(target=self.listen, daemon=True).start()
        self.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                    "clientInfo": {"name": "bench", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def listen(self):
        for line in self.process.child.stdout:
            answer = json.loads(line)
            waiting = self.waiting.pop(answer.get("id"), None)
            if waiting:
                waiting["answer"] = answer
                waiting["done"].set()
        # its output has ended, so no waiting request gets an answer
        with self.lock:
            self.ended, waiting = True, list(self.waiting.values())
        for request in waiting:
            request["done"].set()

    def send(self, message):
        try:
            with self.lock:
                self.process.child.stdin.write(json.dumps(message).encode() + b"\n")
                self.process.child.stdin.flush()
        except OSError as error:
            raise RuntimeError(f"{message['method']}: {error}; {self.process.last_words()}") from error

    def request(self, method, params):
        waiting = {"done": threading.Event()}
        with self.lock:
            self.calls += 1
            number = self.calls
            self.waiting[number] = waiting
            if self.ended:
                waiting["done"].set()
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        if not waiting["done"].wait(120):
            raise RuntimeError(f"{method}: no answer within 120 s; {self.process.last_words()}")
        answer = waiting.get("answer")
        if answer is None:
            raise RuntimeError(f"{method}: the server ended without an answer; {self.process.last_words()}")
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def call(self, tool, arguments):
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            raise RuntimeError(f"{tool}: {result['content']}")
        return result
