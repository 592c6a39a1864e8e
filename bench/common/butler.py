"""The server of this project with its own data directory."""

import subprocess

from .mcp import HttpTools
from .processes import Process


class Butler(Process):
    def __init__(self, program, data_dir, *options):
        super().__init__(
            [program, "serve", "--listen", "127.0.0.1:0", "--data-dir", data_dir, *options],
            data_dir.parent / "butler.log", stdout=subprocess.PIPE,
        )
        self.data = data_dir
        line = self.child.stdout.readline().decode().strip()
        if not line.startswith("ready http://"):
            self.stop()
            raise RuntimeError(f"butler did not start: {self.tail()}")
        self.address = line.removeprefix("ready http://")

    def tools(self):
        return HttpTools(self.address, process=self)
