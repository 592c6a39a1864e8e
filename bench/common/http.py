"""A keep-alive HTTP connection that reconnects after the server closed it and reports the server's state when it fails."""

import http.client
import select


class Connection:
    def __init__(self, address, timeout, process=None):
        """`process` is the server, if it is a child process: its last output becomes part of the error."""
        self.http, self.process = http.client.HTTPConnection(address, timeout=timeout), process

    def post(self, path, body, headers):
        """Returns the response and its body."""
        if self.closed_by_server():
            self.http.close()
        try:
            kept_alive = self.http.sock is not None
            try:
                self.http.request("POST", path, body, headers)
            except ConnectionError:
                # the server closed the connection in between and has seen nothing of the request
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
        """Servers close idle connections. Between two requests nothing else can be readable."""
        return self.http.sock is not None and bool(select.select([self.http.sock], [], [], 0)[0])
