"""The settings of one run: what a caller, an assistant or Studio's form may choose."""

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Annotated, Any, Literal

from langchain_core.runnables.config import ensure_config
from langgraph.runtime import get_runtime
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from citegraph.corpus.records.access import Principal
from citegraph.errors import BadInput

StepSettings = dict[str, str | int | float]


GROUPS: dict[str, dict[str, tuple[str, ...]]] = {
    "Scope": {
        "buckets": ("route",),
        "documents": (),
        "filters": ("schema_plan",),
        "without": ("schema_plan",),
        "today": ("schema_plan",),
    },
    "Answer": {
        "mode": (),
        "style": ("compose",),
        "unsupported": ("verify_citations",),
        "overload": ("review",),
        "list_limit": ("compose",),
        "max_clarifications": ("review", "clarify"),
    },
    "Budgets": {
        "max_rounds": ("review",),
        "max_tool_calls": ("review",),
        "max_llm_calls": (),
        "max_tokens": (),
        "max_cost": (),
        "max_seconds": (),
        "max_corrections": ("verify_citations",),
    },
    "Search": {
        "top_k": ("search",),
        "evidence_tokens": ("prune",),
        "score_threshold": ("prune",),
        "rerank": ("search",),
        "expand": ("search",),
        "mmr": ("prune",),
        "strict_search": ("search",),
    },
    "Models": {"models": ()},
}
"""The settings in the groups and order in which a form shows them, with the nodes that read them, none for all."""


def as_form(schema: dict[str, Any]) -> None:
    """Put the settings of a JSON schema into the order of `GROUPS`, each titled by its group.

    `langgraph_nodes` is what Studio reads to show a setting at its nodes.
    """
    given, ordered = schema["properties"], {}
    for group, names in GROUPS.items():
        for name, nodes in names.items():
            shown = {"title": f"{group}: {name.replace('_', ' ')}"}
            ordered[name] = given[name] | shown | ({"langgraph_nodes": list(nodes)} if nodes else {})
    schema["properties"] = ordered | {name: given[name] for name in given if name not in ordered}


class Context(BaseModel):
    """Per-run settings with bounds; every field has a default, so an empty form runs.

    Live objects never go in here: LangGraph builds Studio's form from this JSON schema.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", json_schema_extra=as_form, use_attribute_docstrings=True
    )

    mode: Literal["agentic", "single"] | None = None
    """single: planned by rules, one round of searches, at most one model call (the answer); empty: as CITEGRAPH_MODE says."""
    buckets: list[str] = []
    """Search only these buckets; empty: the router chooses."""
    documents: list[Annotated[str, Field(min_length=1, max_length=512, pattern=r"^[^\x00]+$")]] = Field(
        [], max_length=500
    )
    """Ask of these documents alone, by their ids; empty: of all."""
    filters: list[str] = Field([], max_length=20)
    """Hard filters such as 'total_amount>=100' or 'vendor_name=Acme'; never relaxed."""
    without: list[Annotated[str, Field(max_length=100)]] = Field([], max_length=20)
    """Fields of which no filter is inferred from the question, such as 'vendor_name'."""
    today: str | None = None
    """ISO date that 'last year' and 'before June' refer to; empty: the current date."""
    max_rounds: int = Field(3, ge=1, le=20)
    """Review rounds before the run composes."""
    max_tool_calls: int = Field(5, ge=1, le=100)
    """Tool calls of the whole run."""
    max_llm_calls: int = Field(12, ge=0, le=200)
    """Model calls of the whole run."""
    max_tokens: int | None = Field(None, ge=1)
    """Model tokens of the whole run, in and out; empty: no limit."""
    max_cost: float | None = Field(None, ge=0)
    """Money for model calls of the whole run, by CITEGRAPH_PRICES; empty: no limit."""
    max_seconds: float = Field(120.0, gt=0, le=3600)
    """Seconds for the whole run, the last 30 % (at most 10) for composing and checking; each call gets what remains before."""
    evidence_tokens: int = Field(6000, ge=200, le=200_000)
    """Tokens of evidence kept for the answer."""
    max_clarifications: int = Field(2, ge=0, le=5)
    """Questions back to the user per question; 0 never asks."""
    max_corrections: int = Field(1, ge=0, le=5)
    """Times that unsupported claims go back to compose."""
    unsupported: Literal["cut", "mark"] = "cut"
    """What happens to a claim that no source supports: cut from the answer, or marked."""
    style: str = Field("", max_length=300, pattern=r"^[^\x00]*$")
    """How a model writes answers, in words of one's own: length, tone, language; what must be cited stays so."""
    top_k: int = Field(10, ge=1, le=100)
    """Hits returned by one search."""
    score_threshold: float = Field(0.3, ge=0, le=1)
    """Share of the question's rare words that a hit must cover to count."""
    rerank: Literal["default", "none", "scores", "order"] = "default"
    """Order of the passages by a model: its scores, its order, or neither; default: the process's."""
    expand: Literal["off", "weak", "always"] = "off"
    """Search with two other wordings too: never, when a search finds little, or always."""
    mmr: float | None = Field(None, ge=0, le=1)
    """Choose differing passages: weight of relevance against difference, 0.5 is usual; empty: off."""
    overload: int = Field(100, ge=2, le=100_000)
    """Matching documents from which a list asks to be narrowed."""
    list_limit: int = Field(100, ge=1, le=1000)
    """Rows printed in a list answer."""
    strict_search: bool = False
    """One failing bucket fails the search; off: partial results with a notice."""
    models: dict[str, StepSettings] = {}
    """Model overrides per step, e.g. {"compose": {"model": "gpt-5"}}; "endpoint" names one of the server's."""

    @field_validator("today")
    @classmethod
    def _iso_date(cls, value: str | None) -> str | None:
        return date.fromisoformat(value).isoformat() if value else None

    def in_mode(self, default: Literal["agentic", "single"]) -> "Context":
        """Return the settings as the run's mode, or else the process's `default`, bounds them."""
        mode = self.mode or default
        if mode == "agentic":
            return self.model_copy(update={"mode": mode})
        once = {"max_rounds": 1, "max_clarifications": 0, "max_corrections": 0}
        return self.model_copy(update={"mode": mode, "max_llm_calls": min(1, self.max_llm_calls)} | once)

    @property
    def now(self) -> date:
        """Return the date that relative dates refer to."""
        return date.fromisoformat(self.today) if self.today else date.today()


BOUNDS = {"minimum": ">= {}", "exclusiveMinimum": "> {}", "maximum": "<= {}", "exclusiveMaximum": "< {}"}


def read_context(given: Mapping[str, Any]) -> Context:
    """Return the settings that somebody wrote, by name; those that are left out have their defaults.

    Raises:
        BadInput: a name is unknown or a value does not fit; the message names the setting and what it takes.
    """
    for name in given:
        if name not in Context.model_fields:
            there = ", ".join(Context.model_fields)
            raise BadInput(f"{str(name)[:60]!r} is no setting of a run; there are {there}.")
    try:
        return Context.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        raise BadInput(f"{name}={str(given.get(name))[:60]}: {first['msg']} ({accepts(name)}).") from error


def accepts(name: str) -> str:
    """Return what a setting takes, "integer, >= 1, <= 20"."""
    schema = Context.model_json_schema()["properties"][name]
    kinds = [schema, *schema.get("anyOf", [])]
    kind = next((item["type"] for item in kinds if item.get("type", "null") != "null"), "text")
    bounds = [text.format(schema[key]) for key, text in BOUNDS.items() if key in schema]
    return ", ".join([kind, *bounds])


USER_KEY = "langgraph_auth_user"
"""The key of `config["configurable"]` that LangGraph Server sets itself and refuses from a caller."""


def user_of(principal: Principal) -> dict[str, Any]:
    """Return a principal as the user that LangGraph's `Auth` handlers return and `run_principal` reads."""
    return {
        "identity": principal.name,
        "is_authenticated": True,
        "display_name": principal.name,
        "permissions": ["write"] if principal.may_write else [],
        "buckets": None if principal.buckets is None else sorted(principal.buckets),
        "labels": None if principal.labels is None else sorted(principal.labels),
    }


def run_principal() -> Principal | None:
    """Return whom the run in this context is for; None when nobody was named, or not by this project's code."""
    user = (ensure_config().get("configurable") or {}).get(USER_KEY)
    return None if user is None else principal_of(user)


def run_documents() -> frozenset[str] | None:
    """Return the documents that the run in this context is asked of; None: of all, or there is no run."""
    try:
        runtime = get_runtime(Context)
    except RuntimeError:
        return None
    chosen = runtime.context.documents if runtime and runtime.context else []
    return frozenset(chosen) or None


def principal_of(user: Any) -> Principal | None:
    """Return the principal of an authenticated user; None when it does not say what the user may see."""
    try:
        name, buckets, labels = user["identity"], user["buckets"], user["labels"]
    except (KeyError, TypeError, AttributeError):
        return None
    may_write = "write" in (user.get("permissions") or ()) if isinstance(user, dict) else False
    return Principal(str(name), _names(buckets), _names(labels), may_write)


def _names(given: Iterable[str] | Mapping[str, Any] | None) -> frozenset[str] | None:
    return None if given is None else frozenset(str(name) for name in given)
