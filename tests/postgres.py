"""A PostgreSQL server for tests: the one that TEST_POSTGRES_URL names, else one in a temporary folder.

`python -m tests.postgres COMMAND...` runs a command with TEST_POSTGRES_URL set, when there is a server.
"""

import getpass
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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
    with running_cluster() as cluster:
        yield cluster.url


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


@dataclass(frozen=True)
class Cluster:
    """A server with its data in a temporary folder, which may be killed and started again on its port."""

    programs: Path
    folder: Path
    user: str | None
    port: int

    @property
    def owner(self) -> str:
        """Return the name of the database's user."""
        return self.user or getpass.getuser()

    @property
    def url(self) -> str:
        """Return the address of its database."""
        return f"postgresql://{self.owner}@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        """Start the server, or start it again; after a kill as soon as its old processes are gone."""
        options = f"-p {self.port} -h 127.0.0.1 -k {self.folder} -c fsync=off -c max_connections=100"
        end = time.monotonic() + STARTUP
        while True:
            try:
                self._control("-l", str(self.folder / "log"), "-o", options, "start")
                return wait_for(self.port)
            except NoPostgres:
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)

    def stop(self) -> None:
        """Stop the server without a checkpoint, as a crash of it does."""
        self._control("-m", "immediate", "stop")

    def kill(self) -> None:
        """Kill the server's first process with SIGKILL; the others end when they see it."""
        os.kill(int((self.folder / "data" / "postmaster.pid").read_text("utf-8").split()[0]), signal.SIGKILL)

    def _control(self, *said: str) -> None:
        run_as(
            [
                str(self.programs / "pg_ctl"),
                "-D",
                str(self.folder / "data"),
                "-w",
                "-t",
                str(int(STARTUP)),
                *said,
            ],
            self.user,
        )


@contextmanager
def running_cluster() -> Iterator[Cluster]:
    """Give a server of one's own, stopped and removed at the end.

    Raises:
        NoPostgres: the server's programs are missing or do not start.
    """
    programs = find_programs()
    folder = Path(tempfile.mkdtemp(prefix="citegraph-postgres-"))
    user = unprivileged_user()
    if user:
        shutil.chown(folder, user)
    cluster = Cluster(programs, folder, user, free_port())
    try:
        create = [str(programs / "initdb"), "-D", str(folder / "data"), "-U", cluster.owner, "-A", "trust"]
        run_as([*create, "-E", "UTF8"], user)
        cluster.start()
        try:
            yield cluster
        finally:
            cluster.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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
