"""Other people's programs, each in an environment of its own in the user's cache, fetched once."""

import os
import shutil
import subprocess
import sys
from pathlib import Path


class NotInstalled(Exception):
    """Why a program is not to be had here; reported, never hidden."""


def cache_dir():
    """As the butler itself: BUTLER_CACHE_DIR, else the platform's cache directory."""
    named = os.environ.get("BUTLER_CACHE_DIR")
    if named:
        return Path(named)
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/butler"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "butler"


def run(command, **options):
    """Runs to the end; a failure says what the program said last."""
    command = [str(word) for word in command]
    try:
        done = subprocess.run(command, capture_output=True, text=True, **options)
    except OSError as error:
        raise NotInstalled(f"{command[0]}: {error}") from error
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()[-3:]
        raise NotInstalled(f"`{' '.join(command)}` ended with {done.returncode}: {' '.join(said)}")
    return done.stdout


def environment(name, *packages, build_environment=None, python=sys.executable):
    """The folder of a Python environment that holds the packages; installed on the first call."""
    home = cache_dir() / "python" / name
    marker, wanted = home / ".butler-installed", "\n".join(packages)
    if marker.exists() and marker.read_text() == wanted:
        return home
    print(f"installing {', '.join(packages)}", file=sys.stderr, flush=True)
    shutil.rmtree(home, ignore_errors=True)
    # the system's certificates, where a company's own stands before the registry
    environ = {**os.environ, "UV_NATIVE_TLS": "true", "UV_SYSTEM_CERTS": "true", **(build_environment or {})}
    uv = find_uv()
    run([uv, "venv", "--quiet", "--seed", "--python", python, home])
    try:
        run([uv, "pip", "install", "--quiet", "--python", home / "bin/python", *packages], env=environ)
    except NotInstalled:
        # pip knows the mirrors and certificates of its user, which uv does not read
        run([home / "bin/python", "-m", "pip", "install", "--quiet", *packages], env=environ)
    marker.write_text(wanted)
    return home


def find_uv():
    """The user's, or one of ours: it resolves in a second what takes pip a minute."""
    found = shutil.which("uv")
    if found:
        return found
    home = cache_dir() / "python" / "uv"
    if not (home / "bin/uv").exists():
        run([sys.executable, "-m", "venv", home])
        run([home / "bin/python", "-m", "pip", "install", "--quiet", "uv"])
    return home / "bin/uv"


def python_that(does):
    """An interpreter of this machine in which some code runs: how Python was built is not for a package to change."""
    for python in [sys.executable, "/usr/bin/python3", "/usr/local/bin/python3", "/opt/homebrew/bin/python3"]:
        if Path(python).exists() and subprocess.run([python, "-c", does], capture_output=True).returncode == 0:
            return python
    raise NotInstalled(f"no Python of this machine can do `{does}`; the system's own usually can")


def version(home, package):
    code = "import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))"
    return run([home / "bin/python", "-c", code, package]).strip()
