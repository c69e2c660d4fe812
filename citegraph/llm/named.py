"""Finds a function or class of the user's own by the dotted path that a setting names."""

import importlib
from typing import Any

from citegraph.errors import BadInput


def find_named(target: str, where: str) -> Any:
    """Return what "package.module:name" names; `where` is the setting, for the message.

    Raises:
        BadInput: it is no such path, the module cannot be imported, or it has no such name.
    """
    module_name, colon, name = target.partition(":")
    if not colon or not all(part.isidentifier() for part in [*module_name.split("."), *name.split(".")]):
        raise BadInput(f"{where}: {target!r} is not of the form package.module:name.")
    try:
        found: Any = importlib.import_module(module_name)
    except Exception as error:
        hint = " Is its folder on PYTHONPATH?" if isinstance(error, ModuleNotFoundError) else ""
        raise BadInput(
            f"{where}: {module_name} cannot be imported ({type(error).__name__}: {error}).{hint}"
        ) from None
    for part in name.split("."):
        if not hasattr(found, part):
            raise BadInput(f"{where}: {module_name} has no {name!r}.")
        found = getattr(found, part)
    return found
