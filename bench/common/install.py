"""Installs third-party programs, each in its own environment in the user's cache directory."""

import os
import shutil
import subprocess
import sys
from pathlib import Path


class NotInstalled(Exception):
    """A program could not be installed. The message is the reason."""


def cache_dir():
    """The same directory as butler's: BUTLER_CACHE_DIR, or the platform's cache directory."""
    named = os.environ.get("BUTLER_CACHE_DIR")
    if named:
        return Path(named)
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/butler"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "butler"


def run(command, **options):
    """Runs a command and returns its output. The error contains its last lines."""
    command = [str(word) for word in command]
    try:
        done = subprocess.run(command, capture_output=True, text=True, **options)
    except OSError as error:
        raise NotInstalled(f"{command[0]}: {error}") from error
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()[-3:]
        raise NotInstalled(f"`{' '.join(command)}` exited with {done.returncode}: {' '.join(said)}")
    return done.stdout


def environment(name, *packages, build_environment=None, python=sys.executable):
    """Returns the folder of a Python environment with the packages. The first call installs it."""
    home = cache_dir() / "python" / name
    marker, wanted = home / ".butler-installed", "\n".join(packages)
    if marker.exists() and marker.read_text() == wanted:
        return home
    print(f"installing {', '.join(packages)}", file=sys.stderr, flush=True)
    shutil.rmtree(home, ignore_errors=True)
    # the system's certificates, for networks with a TLS proxy
    environ = {**os.environ, "UV_NATIVE_TLS": "true", "UV_SYSTEM_CERTS": "true", **(build_environment or {})}
    uv = find_uv()
    run([uv, "venv", "--quiet", "--seed", "--python", python, home])
    try:
        run([uv, "pip", "install", "--quiet", "--python", home / "bin/python", *packages], env=environ)
    except NotInstalled:
        # pip reads its user's mirrors and certificates, uv does not
        run([home / "bin/python", "-m", "pip", "install", "--quiet", *packages], env=environ)
    marker.write_text(wanted)
    return home


def find_uv():
    """The user's uv, or one in our cache. It resolves in a second what takes pip a minute."""
    found = shutil.which("uv")
    if found:
        return found
    home = cache_dir() / "python" / "uv"
    if not (home / "bin/uv").exists():
        run([sys.executable, "-m", "venv", home])
        run([home / "bin/python", "-m", "pip", "install", "--quiet", "uv"])
    return home / "bin/uv"


def python_that(does):
    """A Python interpreter of this machine that can run some code. What it can do depends on how it was built."""
    for python in [sys.executable, "/usr/bin/python3", "/usr/local/bin/python3", "/opt/homebrew/bin/python3"]:
        if Path(python).exists() and subprocess.run([python, "-c", does], capture_output=True).returncode == 0:
            return python
    raise NotInstalled(f"no Python of this machine can run `{does}`; the system's own Python usually can")


def version(home, package):
    code = "import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))"
    return run([home / "bin/python", "-c", code, package]).strip()
