"""JSON over one kept-alive HTTP connection a thread."""

import http.client
import json
import threading


class Rest:
    def __init__(self, address):
        self.address, self.local = address, threading.local()

    def post(self, path, body):
        connection = getattr(self.local, "connection", None)
        if connection is None:
            connection = self.local.connection = http.client.HTTPConnection(self.address, timeout=120)
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        content = answer.read()
        if answer.status >= 400:
            raise RuntimeError(f"POST {path}: {answer.status} {content[:300].decode(errors='replace')}")
        return json.loads(content)
