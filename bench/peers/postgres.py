"""A PostgreSQL with pgvector for the systems that need one: the same runtime as butler's."""

import subprocess

from common.processes import Process


class Postgres(Process):
    def __init__(self, hold, folder):
        super().__init__([hold, folder / "postgres", "-", "-"], folder / "postgres.log",
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        words = self.child.stdout.readline().decode().split()
        if not words or words[0] != "ready":
            raise RuntimeError(f"PostgreSQL did not start: {words} {self.tail()}")
        self.pid, self.url, self.bin = int(words[1]), words[2], words[3]

    def database(self, name):
        subprocess.run([f"{self.bin}/psql", "-q", self.url, "-c", f"CREATE DATABASE {name}"], check=True,
                       capture_output=True)
        # without a host, because some drivers would prefer it to the socket's folder
        url = self.url.replace("/postgres?", f"/{name}?").replace("@localhost/", "@/").replace("postgres://", "postgresql://")
        subprocess.run([f"{self.bin}/psql", "-q", url, "-c", "CREATE EXTENSION IF NOT EXISTS vector"], check=True,
                       capture_output=True)
        return url

    def stop(self):
        # it stops, with its server, when its input ends
        self.child.stdin.close()
        self.child.wait(60)
