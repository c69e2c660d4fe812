"""The deployment files: what can be checked of them without an engine for containers."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
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


def test_the_image_copies_what_the_ignore_file_leaves_and_installs_from_the_constraints() -> None:
    text = (ROOT / "deploy" / "Dockerfile").read_text()
    assert "-c constraints.txt" in text
    assert "USER citegraph" in text
    assert text.index("USER citegraph") < text.index('CMD ["citegraph"')
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {".git", ".venv", ".env", ".citegraph"} <= set(ignored)
    assert not {"constraints.txt", "pyproject.toml", "buckets", "server"} & set(ignored)


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
