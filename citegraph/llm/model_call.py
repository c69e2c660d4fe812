"""One call of a model as it is counted: who was asked, tokens in and out, time, money, what came back."""

from dataclasses import dataclass, field
from typing import Any


def estimate_tokens(text: str) -> int:
    """Return the usual rough count, 4 characters a token, rounded up; exact tables need a download."""
    return -(-len(text) // 4)


@dataclass(frozen=True)
class ModelCall:
    """One request to a model, answered or failed.

    Tokens are the endpoint's own count, or `estimate_tokens` when it says nothing (`estimated`); `seconds` is
    wall clock; `cost` is by the table of prices, None for a model without one; `rung` is how structure was asked
    for, "text" when it was not; `failure` is the error's class name, empty for a reply; `message` is the reply as LangChain's `AIMessage`, for a loop that continues it.
    """

    step: str
    model: str
    rung: str = "text"
    prompt_version: str = ""
    content: str = ""
    tool_calls: tuple[dict[str, Any], ...] = ()
    tokens_in: int = 0
    tokens_out: int = 0
    estimated: bool = False
    cost: float | None = None
    seconds: float = 0.0
    finish: str = ""
    failure: str = ""
    message: Any = field(default=None, repr=False, compare=False)

    @property
    def truncated(self) -> bool:
        """Return whether the reply stopped at the token limit."""
        return self.finish == "length"

    @property
    def tokens(self) -> int:
        """Return tokens in and out together."""
        return self.tokens_in + self.tokens_out
