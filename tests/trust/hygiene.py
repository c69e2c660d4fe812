"""Looks at what the product is built from: known holes, licences, and a bill of materials (`sbom.json`)."""

import json
import re
import subprocess
import sys
import tempfile
from importlib.metadata import requires
from pathlib import Path

ROOT = Path(__file__).parents[2]
REFUSED = re.compile(r"\bA?GPL\b|Affero|SSPL|Commons Clause|\bBUSL\b", re.IGNORECASE)
ALLOWED = re.compile(r"LGPL|Lesser|Classpath", re.IGNORECASE)
NO_NETWORK = re.compile(
    r"ConnectionError|connect|resolve|ServiceError|timed out|Max retries|403|40[47]", re.IGNORECASE
)
BIN = Path(sys.executable).parent


def called(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(BIN / command[0]), *command[1:]], capture_output=True, text=True, cwd=ROOT, check=False
    )


def audited() -> bool:
    """Tell whether no pinned package has a known hole; where the list cannot be reached, say so and pass."""
    pins = (ROOT / "constraints.txt").read_text("utf-8")
    with tempfile.TemporaryDirectory() as folder:
        first = Path(folder) / "first.txt"
        # One look-up first: a list that does not answer is not asked for two hundred packages.
        first.write_text(next(line for line in pins.splitlines() if line.startswith("pydantic==")), "utf-8")
        probe = _audit(first)
    if probe.returncode or "could not be audited" in probe.stdout + probe.stderr:
        said = (probe.stderr + probe.stdout).strip().splitlines()
        print(
            f"pip-audit skipped, its list of holes cannot be asked: {said[-1][:160] if said else 'no answer'}"
        )
        return True
    found = _audit(ROOT / "constraints.txt")
    print(found.stdout or "pip-audit: no known holes")
    return found.returncode == 0


def _audit(file: Path) -> "subprocess.CompletedProcess[str]":
    return called(
        "pip-audit",
        "-r",
        str(file),
        "--no-deps",
        "--disable-pip",
        "--progress-spinner",
        "off",
        "--timeout",
        "10",
    )


def licensed() -> bool:
    """Tell whether every runtime dependency may be shipped with a product of any licence."""
    named = [
        re.split(r"[\s\[<>=!;~]", text)[0] for text in requires("citegraph") or [] if "extra ==" not in text
    ]
    found = called("pip-licenses", "--format=json", "--packages", *named)
    rows = json.loads(found.stdout)
    bad = [row for row in rows if REFUSED.search(row["License"]) and not ALLOWED.search(row["License"])]
    print(
        f"licences: {len(rows)} runtime dependencies, {len(bad)} refused",
        *(f"{row['Name']}: {row['License']}" for row in bad),
    )
    return not bad


def listed() -> bool:
    """Write `sbom.json`, the bill of materials of this environment in CycloneDX."""
    found = called("cyclonedx-py", "environment", "--output-file", "sbom.json")
    print("sbom.json written" if found.returncode == 0 else found.stderr[-300:])
    return found.returncode == 0


if __name__ == "__main__":
    sys.exit(0 if all([audited(), licensed(), listed()]) else 1)
