"""What `annotate --rerun` and `bucket propose --by` name: the rules, or a language model."""

from typing import Literal

from citegraph.errors import BadInput

By = Literal["rules", "model"]


def rules_or_model(option: str, text: str | None) -> By | None:
    """Return which of the two an option names, None without it.

    Raises:
        BadInput: it is neither.
    """
    match text:
        case None | "rules" | "model":
            return text
    raise BadInput(f"{option} {text}: it is rules or model.")
