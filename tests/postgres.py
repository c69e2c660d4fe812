"""A PostgreSQL server for tests: the one that TEST_POSTGRES_URL names, else one in a temporary folder.

`python -m tests.postgres COMMAND...` runs a command with TEST_POSTGRES_URL set, when there is a server.
"""

import getpass
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STARTUP = 30.0
"""Seconds that a fresh server may take to answer."""


class NoPostgres(Exception):
    """No server is named and none can be started here; the message says why."""


@contextmanager
def running_postgres() -> Iterator[str]:
    """Give the URL (`postgresql://user@host:port/name`) of an empty database, stopped and removed at the end.

    Raises:
        NoPostgres: TEST_POSTGRES_URL is not set and the server's programs are missing or do not start.
    """
    named = os.environ.get("TEST_POSTGRES_URL")
    if named:
        yield named
        return
    programs = find_programs()
    folder = Path(tempfile.mkdtemp(prefix="citegraph-postgres-"))
    user = unprivileged_user()
    if user:
        shutil.chown(folder, user)
    try:
        with started(programs, folder, user) as url:
            yield url
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def find_programs() -> Path:
    """Return the folder that holds `initdb` and `pg_ctl`, the newest one.

    Raises:
        NoPostgres: there is none.
    """
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    found = shutil.which("pg_ctl")
    if found:
        folders.append(Path(found).resolve().parent)
    for folder in reversed(folders):
        if (folder / "initdb").exists() and (folder / "pg_ctl").exists():
            return folder
    raise NoPostgres("TEST_POSTGRES_URL is not set and initdb and pg_ctl are not installed")


def unprivileged_user() -> str | None:
    """Return whom the server runs as when we are root (it refuses root), None when we are not.

    Raises:
        NoPostgres: we are root and there is no user to change to.
    """
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    for name in ("postgres", "nobody"):
        if name in known:
            return name
    raise NoPostgres("the server refuses root and there is no user postgres or nobody")


@contextmanager
def started(programs: Path, folder: Path, user: str | None) -> Iterator[str]:
    """Create a cluster in `folder`, run it on a free loopback port, give its URL and stop it."""
    data, port = folder / "data", free_port()
    owner = user or getpass.getuser()
    run_as([str(programs / "initdb"), "-D", str(data), "-U", owner, "-A", "trust", "-E", "UTF8"], user)
    options = f"-p {port} -h 127.0.0.1 -k {folder} -c fsync=off -c max_connections=100"
    control = [str(programs / "pg_ctl"), "-D", str(data), "-w", "-t", str(int(STARTUP))]
    run_as([*control, "-l", str(folder / "log"), "-o", options, "start"], user)
    try:
        wait_for(port)
        yield f"postgresql://{owner}@127.0.0.1:{port}/postgres"
    finally:
        run_as([*control, "-m", "immediate", "stop"], user)


def run_as(command: list[str], user: str | None) -> None:
    """Run a program of the server as `user`.

    Raises:
        NoPostgres: it failed; the message holds the end of what it said.
    """
    entry = pwd.getpwnam(user) if user else None
    # Files, not pipes: the server keeps what pg_ctl hands down, and a pipe would never end.
    with tempfile.TemporaryFile("w+") as said:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            cwd="/",
            env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8"},
            timeout=STARTUP * 2,
            check=False,
            user=entry.pw_uid if entry else None,
            group=entry.pw_gid if entry else None,
            extra_groups=[] if entry else None,
        )
        said.seek(0)
        text = said.read()
    if done.returncode:
        raise NoPostgres(f"{Path(command[0]).name} failed: {text[-300:].strip()}")


def free_port() -> int:
    """Return a loopback port that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(port: int) -> None:
    """Return when something listens on `port`.

    Raises:
        NoPostgres: nothing did for half a minute.
    """
    end = time.monotonic() + STARTUP
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise NoPostgres(f"the server does not answer on port {port}")


def main() -> int:
    """Run the command of the command line beside a server, or without one; return its exit code."""
    command = sys.argv[1:]
    try:
        with running_postgres() as url:
            return subprocess.run(
                command, env=os.environ | {"TEST_POSTGRES_URL": url}, check=False
            ).returncode
    except NoPostgres as reason:
        print(f"no PostgreSQL: {reason}", file=sys.stderr)
        return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
