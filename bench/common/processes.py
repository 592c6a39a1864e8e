"""Servers as child processes: start, wait, measure, stop."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def exit_on_sigterm():
    """Exits normally on SIGTERM, so that the child processes are stopped."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


class Process:
    """A program and its children in one process group, with its output in a file."""

    def __init__(self, command, log, env=None, cwd=None, **pipes):
        self.log = Path(log)
        output = self.log.open("ab")
        pipes.setdefault("stdout", output)
        self.child = subprocess.Popen(
            [str(word) for word in command], stderr=output, env={**os.environ, **(env or {})}, cwd=cwd,
            process_group=0, **pipes,
        )

    def running(self):
        return self.child.poll() is None

    def tail(self, lines=5):
        text = re.sub(r"\x1b\[[0-9;]*m", "", self.log.read_text(errors="replace")).strip().splitlines()
        return " | ".join(line.strip() for line in text[-lines:])

    def last_words(self):
        """Its state and its last output. Waits a moment, because a broken pipe may be the first sign of its end."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.child.wait(2)
        how = "it is running" if self.running() else f"it exited with {self.child.returncode}"
        return f"{Path(str(self.child.args[0])).name}: {how}; its last lines: {self.tail() or 'none'}"

    def wait_for(self, url, seconds):
        """Waits until the URL returns any response."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if not self.running():
                raise RuntimeError(f"{self.child.args[0]} exited with {self.child.returncode}: {self.tail()}")
            try:
                urllib.request.urlopen(url, timeout=2).close()
                return
            except urllib.error.HTTPError:
                return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError(f"{url} did not answer within {seconds} s: {self.tail()}")

    def stop(self):
        if self.running():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.child.pid, signal.SIGTERM)
            try:
                self.child.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(self.child.pid, signal.SIGKILL)
                self.child.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def resident_mb(pid):
    """Resident memory of a process and its descendants (Linux), with shared pages counted once."""
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError, KeyError):
                parents[int(folder.name)] = int(fields(folder / "status")["PPid"])
    total, todo = 0.0, [pid]
    while todo:
        one = todo.pop()
        with contextlib.suppress(OSError, KeyError):
            total += int(fields(Path(f"/proc/{one}/smaps_rollup"))["Pss"].split()[0]) / 1024
        todo += [child for child, parent in parents.items() if parent == one]
    return total


def fields(path):
    return dict(line.split(":", 1) for line in path.read_text().splitlines() if ":" in line)
