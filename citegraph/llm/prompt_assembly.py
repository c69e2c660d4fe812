"""Prompts: what a step is told, data fenced off from it, what is cut first when it is too long, and replacements."""

import hashlib
import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citegraph.errors import BadInput, Rejected
from citegraph.llm.model_call import estimate_tokens
from citegraph.llm.named import find_named

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

DEFAULT_TOKENS = 24_000
"""Tokens of a prompt for a model that CITEGRAPH_PROMPT_TOKENS does not name."""
SHORTEST = 400
"""Characters that stay of the last passage, however long the rest is."""
FENCES = frozenset({"question", "evidence", "passage", "earlier_turns", "claim", "system"})


@dataclass(frozen=True)
class Prompt:
    """The instructions of one step; `version` changes with each change of what a model sees."""

    step: str
    version: str
    system: str


@dataclass(frozen=True)
class Passage:
    """A piece of evidence: the marker to cite it by, its text, where it stands, and what is known of its document.

    `heads` are the column heads of a table whose rows the text begins with.
    """

    marker: str
    text: str
    place: str = ""
    known: str = ""
    heads: str = ""


@dataclass(frozen=True)
class Material:
    """What one prompt is about.

    Attributes:
        question: never cut.
        facts: (tag, text) pairs in order, never cut; an empty text is left out.
        turns: earlier turns, oldest first; the oldest go first when the prompt is too long.
        evidence: passages, best first; after the turns the last ones go.
        left_out: passages that were dropped before.
    """

    question: str
    facts: tuple[tuple[str, str], ...] = ()
    turns: tuple[str, ...] = ()
    evidence: tuple[Passage, ...] = ()
    left_out: int = 0


@dataclass(frozen=True)
class Assembled:
    """The messages to send, the version to trace them by, and how many passages were cut to fit."""

    messages: "list[BaseMessage]"
    version: str
    cut_passages: int = 0


Own = Callable[[Material], Any]
"""A prompt of the user's own: returns the instructions as text, or all messages."""


class Prompts:
    """The prompts of this process: ours, or the user's own for the steps that CITEGRAPH_PROMPTS names.

    Args:
        own: step -> path of a text file with instructions, or "package.module:function" (see `Own`).
        tokens: start of a model's name -> tokens that its prompts may have; "*" for all others.
        steps: the steps that exist.

    Raises:
        BadInput: a step, file or function is unknown or unfit, or a number of tokens is too small.
    """

    def __init__(self, own: Mapping[str, str], tokens: Mapping[str, int], steps: Sequence[str]) -> None:
        for step in own:
            if step not in steps:
                raise BadInput(
                    f"CITEGRAPH_PROMPTS: there is no step {step!r}; the steps are {', '.join(steps)}."
                )
        if small := [name for name, number in tokens.items() if number < 1000]:
            raise BadInput(f"CITEGRAPH_PROMPT_TOKENS: {small[0]}: at least 1000 tokens are needed.")
        self._own = {step: _load(step, target) for step, target in own.items()}
        self._tokens = dict(tokens)

    def tokens(self, model: str) -> int:
        """Return how many tokens a prompt for `model` may have: by the longest start of its name that is set."""
        fitting = [name for name in self._tokens if name != "*" and model.startswith(name)]
        return self._tokens.get(max(fitting, key=len) if fitting else "*", DEFAULT_TOKENS)

    def assemble(self, prompt: Prompt, material: Material, *, model: str = "") -> Assembled:
        """Return the messages of a step: instructions, then the fenced material, cut to the model's tokens.

        Raises:
            Rejected: the user's own function failed, or returned something else; the step's twin answers.
        """
        from langchain_core.messages import HumanMessage, SystemMessage

        own = self._own.get(prompt.step)
        system, version = prompt.system, prompt.version
        if own is not None:
            version, made = own[0], _called(prompt.step, own[1], material)
            if isinstance(made, list):
                return Assembled(made, version)
            system = made
        fitted = fit(material, self.tokens(model) - estimate_tokens(system))
        messages: list[BaseMessage] = [SystemMessage(system), HumanMessage(render(fitted))]
        return Assembled(messages, version, len(material.evidence) - len(fitted.evidence))


def fit(material: Material, tokens: int) -> Material:
    """Return the material cut to `tokens`: oldest turns, then last passages, then the end of the only one left."""
    while estimate_tokens(render(material)) > tokens:
        if material.turns:
            material = replace(material, turns=material.turns[1:])
        elif len(material.evidence) > 1:
            material = replace(material, evidence=material.evidence[:-1], left_out=material.left_out + 1)
        else:
            return _shortened(material, tokens)
    return material


def _shortened(material: Material, tokens: int) -> Material:
    if not material.evidence:
        return material
    only = material.evidence[0]
    over = (estimate_tokens(render(material)) - tokens) * 4
    text = only.text[: max(SHORTEST, len(only.text) - over - 2)]
    return replace(material, evidence=(replace(only, text=text if text == only.text else f"{text} …"),))


def render(material: Material) -> str:
    """Return the material as one message: each part between tags that no part can close, the question last."""
    tags = FENCES | {tag for tag, _ in material.facts}
    parts = [_block(tag, text, tags) for tag, text in material.facts if text.strip()]
    if material.turns:
        parts.append(_block("earlier_turns", "\n".join(material.turns), tags))
    if material.evidence or material.left_out:
        opening = (
            f'<evidence passages="{len(material.evidence)}" left_out="{material.left_out}" as="JSON strings">'
        )
        shown = [_passage(passage) for passage in material.evidence]
        parts.append("\n".join([opening, *shown, "</evidence>"]))
    if material.question:
        parts.append(_block("question", material.question, tags))
    return "\n".join(parts)


def fence(text: str, tags: frozenset[str] = FENCES) -> str:
    """Return `text` with the brackets of our own tags turned into others, so that it cannot open or close one."""
    names = "|".join(sorted(map(re.escape, tags)))
    return re.sub(rf"[<＜﹤]([\s/／]*(?:{names})(?![\w-]))", r"‹\1", text, flags=re.IGNORECASE)


def _block(tag: str, text: str, tags: frozenset[str]) -> str:
    return f"<{tag}>\n{fence(text.strip(), tags)}\n</{tag}>"


def _passage(passage: Passage) -> str:
    said = [
        ("marker", passage.marker),
        ("from", passage.place),
        ("fields", passage.known),
        ("columns", passage.heads),
    ]
    attributes = "".join(f' {name}="{_attribute(value)}"' for name, value in said if value)
    return f"<passage{attributes}>\n{quoted(passage.text.strip())}\n</passage>"


def quoted(text: str) -> str:
    """Return a text as a JSON string in which no bracket opens a tag: it ends where its quotes end."""
    return _opening(json.dumps(text, ensure_ascii=False), lambda char: f"\\u{ord(char):04x}")


_COMPARES = re.compile(r"[<>](?=[ ]?[=\d.±+−-])")
"""A bracket before a number, which compares: no tag begins so."""
_BRACKETS = re.compile("[<>＜＞﹤﹥\u2028\u2029\u0085]")


def _opening(text: str, written: Callable[[str], str]) -> str:
    """Return a text with the brackets that could open or close a tag, and odd line ends, written otherwise."""
    compares = {match.start() for match in _COMPARES.finditer(text)}
    return _BRACKETS.sub(lambda m: m[0] if m.start() in compares else written(m[0]), text)


def _attribute(value: str) -> str:
    """Return a value that stays inside its quotes: file names and field values come from documents too."""
    return _opening(" ".join(value.replace('"', "'").split()), lambda char: "›" if char in ">＞﹥" else "‹")


def _load(step: str, target: str) -> tuple[str, str | Own]:
    """Return a prompt of the user's own with its version: the text of a file, or a function."""
    where = f"CITEGRAPH_PROMPTS: {step}"
    if re.fullmatch(r"[\w.]+:[\w.]+", target) and not Path(target).exists():
        function = find_named(target, where)
        if not callable(function):
            raise BadInput(f"{where}: {target} is not a function.")
        try:
            inspect.signature(function).bind(Material(""))
        except (TypeError, ValueError):
            raise BadInput(
                f"{where}: {target} must take one argument, a citegraph.llm.prompt_assembly.Material."
            ) from None
        return f"{step}-own:{target}", function
    try:
        text = Path(target).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            f"{where}: {target!r} is neither a readable text file nor package.module:function "
            f"({type(error).__name__})."
        ) from None
    if not text:
        raise BadInput(f"{where}: the file {target} is empty.")
    return f"{step}-own:{hashlib.sha256(text.encode()).hexdigest()[:8]}", text


def _called(step: str, own: str | Own, material: Material) -> Any:
    """Return the instructions (text) or messages (list) of a prompt of the user's own."""
    from langchain_core.messages import BaseMessage

    if isinstance(own, str):
        return own
    try:
        made = own(material)
    except Exception as error:
        raise Rejected(f"{step}: the prompt of your own failed ({type(error).__name__})") from error
    if isinstance(made, str) and made.strip():
        return made
    if isinstance(made, list) and made and all(isinstance(item, BaseMessage) for item in made):
        return made
    raise Rejected(f"{step}: the prompt of your own returned neither text nor messages")
