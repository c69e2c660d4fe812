"""What a call of a model is made with: the step, its options, the endpoint, and what that endpoint was found to take."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

from pydantic import BaseModel, Field, SecretStr, ValidationError

from citegraph.errors import BadInput
from citegraph.llm.budget import CallBudget

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage
    from langchain_core.runnables import RunnableConfig


SNAPSHOT = re.compile(r"[-@](?:\d{4}-\d{2}-\d{2}|\d{4,8}|latest)$")
ANY_MODEL = "*"
M = TypeVar("M", bound=BaseModel)


def checked(kind: type[M], values: Mapping[str, Any], where: str, hint: str) -> M:
    """Return settings as an object; the message names what is wrong, never a value.

    Raises:
        BadInput: they do not fit.
    """
    try:
        return kind.model_validate(dict(values))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        raise BadInput(f"{where}{name}: {first['msg']}; {hint}") from None


class Price(BaseModel, extra="forbid", frozen=True):
    """Money per million tokens, in whatever currency the table is written in."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)

    def of(self, tokens_in: int, tokens_out: int) -> float:
        """Return the price of one call."""
        return (tokens_in * self.input + tokens_out * self.output) / 1_000_000


class Prices:
    """The prices of models by name; a dated snapshot has its model's price, and "*" is for all others.

    Raises:
        BadInput: the table has another shape.
    """

    def __init__(self, table: Mapping[str, Mapping[str, Any]]) -> None:
        hint = 'give {"MODEL": {"input": 1.25, "output": 10}}.'
        self._prices = {name: checked(Price, row, "CITEGRAPH_PRICES: ", hint) for name, row in table.items()}

    def price(self, model: str) -> Price | None:
        """Return the price of a model, None when the table has none."""
        for name in (model, SNAPSHOT.sub("", model), ANY_MODEL):
            if name in self._prices:
                return self._prices[name]
        return None


Step = Literal[
    "gate",
    "rewrite",
    "decompose",
    "route",
    "schema_plan",
    "expand",
    "rerank",
    "review",
    "compose",
    "verify",
    "agent",
    "extract",
]


Rung = Literal["json_schema", "tool_call", "json_text"]


class StepOptions(BaseModel, extra="forbid", frozen=True):
    """What a run may choose per step; None keeps the process's setting.

    `endpoint` is the name of one that the process declares, base URL and key together: a run can send no document and
    no key to a place of its own.
    """

    model: str | None = Field(None, min_length=1, max_length=200)
    temperature: float | None = Field(None, ge=0, le=2)
    max_tokens: int | None = Field(None, ge=1, le=1_000_000)
    timeout: float | None = Field(None, gt=0, le=3600)
    reasoning_effort: str | None = Field(None, pattern=r"^[a-z]{1,12}$")
    method: Rung | None = None
    endpoint: str | None = Field(None, min_length=1, max_length=60)


class Endpoint(BaseModel, extra="forbid", frozen=True):
    """An endpoint of CITEGRAPH_ENDPOINTS."""

    base_url: str = Field(min_length=1)
    api_key: SecretStr | None = None


class EndpointOptions(StepOptions):
    """What the process may choose per step: a run's own options, and an endpoint with its own key."""

    base_url: str | None = None
    api_key: SecretStr | None = None


@dataclass(frozen=True)
class ModelSpec:
    """Everything that makes one step's model: hashable, and its `repr` hides the key."""

    step: str
    model: str
    base_url: str | None
    api_key: SecretStr | None = field(repr=False)
    temperature: float | None = 0.0
    max_tokens: int | None = None
    timeout: float = 30.0
    reasoning_effort: str | None = None
    method: Rung | None = None
    price: Price | None = None


@dataclass
class Capability:
    """What is known of one endpoint and model: rungs and parameters that it refused or passed over."""

    refused: set[str] = field(default_factory=set)
    ignored: dict[str, int] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)

    def rungs(self, method: Rung | None) -> tuple[Rung, ...]:
        """Return the rungs worth trying, best first; a forced `method` is the only one."""
        if method:
            return (method,)
        return tuple(
            r for r in RUNGS if r == "json_text" or (r not in self.refused and self.ignored.get(r, 0) < 2)
        )

    def worked(self, rung: str) -> None:
        """Note that `rung` brought what was asked for."""
        self.ignored.pop(rung, None)

    def passed_over(self, rung: str) -> None:
        """Note that the endpoint took `rung` and answered without structure; twice in a row drops it."""
        self.ignored[rung] = self.ignored.get(rung, 0) + 1


Overrides = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Call:
    """One question to a step's model: messages, what it may spend, and how its run is named and traced.

    `overrides` is the run's `Context.models`; `metadata` holds ids, counts and names only, since it goes to the
    trace.
    """

    step: Step
    messages: "Sequence[BaseMessage]"
    budget: CallBudget
    overrides: Overrides = field(default_factory=dict)
    prompt_version: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def config(self) -> "RunnableConfig":
        """Return the run's name, tags and metadata; a call stays out of LangGraph's message stream.

        The answer's text gets there from the node that speaks it, without thoughts and failed attempts.
        """
        version = f"{self.step}:{self.prompt_version}" if self.prompt_version else ""
        tags = [self.step, *([f"prompt:{version}"] if version else [])]
        return {
            "run_name": self.step,
            "tags": [*tags, NO_STREAM],
            "metadata": {**self.metadata, "step": self.step, "prompt_version": self.prompt_version},
        }


STEPS: tuple[Step, ...] = get_args(Step)


RUNGS: tuple[Rung, ...] = get_args(Rung)


NO_STREAM = "nostream"  # LangGraph leaves runs with this tag out of the message stream
