"""JSON over one keep-alive HTTP connection per thread."""

import json
import threading

from common.http import Connection


class Rest:
    def __init__(self, address, process=None):
        self.address, self.process, self.local = address, process, threading.local()

    def post(self, path, body):
        connection = getattr(self.local, "connection", None)
        if connection is None:
            connection = self.local.connection = Connection(self.address, 120, self.process)
        answer, content = connection.post(path, json.dumps(body), {"Content-Type": "application/json"})
        if answer.status >= 400:
            raise RuntimeError(f"POST {path}: {answer.status} {content[:300].decode(errors='replace')}")
        return json.loads(content)
