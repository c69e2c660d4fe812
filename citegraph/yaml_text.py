"""YAML into plain data, fast: libyaml's parser with the scalars of YAML 1.2 ("no", "on" and 1:30 stay texts)."""

import re
from functools import cache
from typing import Any, ClassVar

from citegraph.errors import BadInput

_SCALARS = (
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("int", r"^[-+]?[0-9]+$|^0o[0-7]+$|^0x[0-9a-fA-F]+$", "-+0123456789"),
    (
        "float",
        r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$|^[-+]?\.inf$|^\.nan$",
        "-+0123456789.",
    ),
    ("null", r"^(?:~|null|Null|NULL|)$", "~nN\0"),
    ("merge", r"^<<$", "<"),
)


@cache
def _loader() -> Any:
    import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        """PyYAML knows YAML 1.1, in which `no` is false."""

        yaml_implicit_resolvers: ClassVar[dict[str, list[Any]]] = {}

    for name, pattern, first in _SCALARS:
        tag = f"tag:yaml.org,2002:{name}"
        Loader.add_implicit_resolver(
            tag, re.compile(pattern), list(first.replace("\0", "")) + [""] * ("\0" in first)
        )

    def whole(loader: Any, node: Any) -> int:
        digits = str(node.value)
        base = {"0o": 8, "0x": 16}.get(digits[:2], 10)
        return int(digits.removeprefix("0o"), base)

    Loader.add_constructor("tag:yaml.org,2002:int", whole)
    return Loader


def parse_yaml(text: str) -> Any:
    """Return the plain data of one YAML document: dicts, lists, texts, numbers, booleans, None.

    Raises:
        BadInput: it is no YAML; the message says the line.
    """
    import yaml

    try:
        return yaml.load(text, Loader=_loader())  # noqa: S506  # nosec B506
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        raise BadInput(f"line {line}: {getattr(error, 'problem', None) or 'not YAML'}") from error
