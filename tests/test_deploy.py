"""The deployment files: what can be checked of them without an engine for containers."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from ruamel.yaml import YAML

from citegraph.settings import Settings

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def compose() -> Any:
    return YAML(typ="safe").load((ROOT / "compose.yaml").read_text())


def test_the_app_is_told_settings_that_exist(compose: Any) -> None:
    known = {str(field.validation_alias) for field in Settings.model_fields.values()}
    known |= {"OPENAI_BASE_URL"}  # one of two names
    assert set(compose["services"]["app"]["environment"]) <= known


def test_services_depend_on_each_other_and_keep_their_data(compose: Any) -> None:
    services = compose["services"]
    assert set(services) == {"app", "qdrant", "postgres"}
    assert set(services["app"]["depends_on"]) == {"qdrant", "postgres"}
    used = {volume.partition(":")[0] for service in services.values() for volume in service["volumes"]}
    assert used == set(compose["volumes"])
    assert services["postgres"]["healthcheck"]["test"][0] == "CMD"


def test_nothing_is_open_to_the_network_and_no_secret_is_written_down(compose: Any) -> None:
    services = compose["services"]
    ports = [port for service in services.values() for port in service.get("ports", [])]
    assert all(port.startswith("127.0.0.1:") for port in ports)
    secrets = [
        value
        for service in services.values()
        for name, value in service["environment"].items()
        if re.search("KEY|PASSWORD", name) and name != "CITEGRAPH_API_KEYS"
    ]
    assert secrets
    assert all(value.startswith("${") for value in secrets)
    images = [service["image"] for service in services.values() if "image" in service]
    assert all(re.search(r":v?\d", image) for image in images)


def test_the_image_copies_what_the_ignore_file_leaves_and_installs_by_hash() -> None:
    text = (ROOT / "deploy" / "Dockerfile").read_text()
    assert "pip install --no-cache-dir --require-hashes -r deploy/requirements.txt" in text
    assert "--no-deps --no-build-isolation -e ." in text
    assert text.count("pip install") == 2
    assert "USER citegraph" in text
    assert text.index("USER citegraph") < text.index('CMD ["citegraph"')
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {".git", ".venv", ".env", ".citegraph"} <= set(ignored)
    assert not {"deploy", "pyproject.toml", "buckets", "server"} & set(ignored)


PIN = re.compile(
    r"(?P<name>[\w.-]+)==(?P<version>[\w.+!-]+)(?P<hashes>(?: \\\n    --hash=sha256:[0-9a-f]{64})+)\n"
)


def test_what_the_image_installs_is_pinned_as_everywhere_each_package_by_hash() -> None:
    text = (ROOT / "deploy" / "requirements.txt").read_text()
    assert PIN.sub("", text) == ""  # so no address, no path, no option, and nothing without a hash
    pins = {canonicalize_name(pin["name"]): pin["version"] for pin in PIN.finditer(text)}
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    held = {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in lines)}
    assert {name: held.get(name) for name in pins} == pins
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())
    asked = [*declared["project"]["dependencies"], *declared["build-system"]["requires"]]
    asked += declared["project"]["optional-dependencies"]["postgres"]
    for line in asked:
        requirement = Requirement(line)
        assert requirement.specifier.contains(pins[canonicalize_name(requirement.name)]), line


def test_langgraph_writes_an_image_with_the_graphs_routes_and_keys(tmp_path: Path) -> None:
    command = Path(sys.executable).with_name("langgraph")
    out = tmp_path / "Dockerfile"
    subprocess.run([command, "dockerfile", out], cwd=ROOT, check=True, capture_output=True, timeout=120)
    text = out.read_text()
    declared = json.loads((ROOT / "langgraph.json").read_text())
    for variable, key in (
        ("LANGSERVE_GRAPHS", "graphs"),
        ("LANGGRAPH_AUTH", "auth"),
        ("LANGGRAPH_HTTP", "http"),
    ):
        found = re.search(rf"ENV {variable}='(.*)'", text)
        assert found, variable
        assert json.loads(found[1]) == declared[key]
