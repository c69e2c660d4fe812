"""YAML as declarations and word tables write it."""

from pathlib import Path

import pytest
from ruamel.yaml import YAML

from citegraph.errors import BadInput
from citegraph.yaml_text import parse_yaml

BUCKETS = Path(__file__).parents[2] / "buckets"


def test_scalars_are_those_of_yaml_1_2() -> None:
    text = "a: no\nb: 1:30\nc: [on, off, yes]\nd: 017\ne:\nf: 2024-01-02\ng: 1.50\nh: true\ni: '2'\nj: -3"
    assert parse_yaml(text) == {
        "a": "no",
        "b": "1:30",
        "c": ["on", "off", "yes"],
        "d": 17,
        "e": None,
        "f": "2024-01-02",
        "g": 1.5,
        "h": True,
        "i": "2",
        "j": -3,
    }


@pytest.mark.parametrize("path", sorted(BUCKETS.glob("*.yaml")), ids=lambda path: path.stem)
def test_declarations_read_as_by_the_slow_parser(path: Path) -> None:
    text = path.read_text("utf-8")
    assert parse_yaml(text) == YAML(typ="safe", pure=True).load(text)


def test_what_is_no_yaml_names_its_line() -> None:
    with pytest.raises(BadInput, match=r"^line \d: did not find"):
        parse_yaml("a: 1\nb: [1,\nc: 2\n")
