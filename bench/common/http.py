"""One kept-alive HTTP connection: opened anew when its server closed it, and whose server it is when it breaks."""

import http.client
import select


class Connection:
    def __init__(self, address, timeout, process=None):
        """`process` is the server, where it is a child of ours: what it said last belongs to the error."""
        self.http, self.process = http.client.HTTPConnection(address, timeout=timeout), process

    def post(self, path, body, headers):
        """The answer and its content."""
        if self.closed_by_server():
            self.http.close()
        try:
            kept_alive = self.http.sock is not None
            try:
                self.http.request("POST", path, body, headers)
            except ConnectionError:
                # closed between our look and our words: nothing of them was heard
                self.http.close()
                if not kept_alive:
                    raise
                self.http.request("POST", path, body, headers)
            answer = self.http.getresponse()
            return answer, answer.read()
        except (OSError, http.client.HTTPException) as error:
            self.http.close()
            said = f"; {self.process.last_words()}" if self.process else ""
            raise RuntimeError(f"POST {path}: {error or type(error).__name__}{said}") from error

    def closed_by_server(self):
        """Servers close what was idle for some seconds. Between two requests there is nothing else to be read."""
        return self.http.sock is not None and bool(select.select([self.http.sock], [], [], 0)[0])
