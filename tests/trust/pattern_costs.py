"""Every regular expression of the code base: those of its modules, of calls with a literal, and of the declarations.

Each is held against hostile texts as readers and the gate hand them on, bounded (`citegraph.language.bounded`).

`python -m tests.trust.pattern_costs` prints how many there are, and those that cost more than their text's length (`short`:
on the texts made of each pattern and a few others; the tests try only that each comes to an end on them).
"""

import ast
import importlib
import pkgutil
import random
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from pathlib import Path
from typing import Any

from citegraph.language.bounded import LINE, bounded
from tests.trust.pattern_texts import own_units

ROOT = Path(__file__).parents[2]
PACKAGES = ("citegraph", "graph", "nodes", "tools", "server", "cli", "buckets", "evals")
CALLS = {"compile", "search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
SMALL, LARGE = 10_000, 50_000
NEAR_NOTHING = 0.004
"""CPU seconds on a small text below which a quadratic pattern, too, takes a tenth of a second on a large one."""
NOTICED = 0.2
"""CPU seconds on a large text from which a pattern is told of."""
STEEPEST = 10.0
"""How often longer a text of five times the length may take: 5 is linear, 25 quadratic."""
TIMES = 3
"""How often both texts are tried, one after the other, before a pattern is called steep: the fastest of each counts."""
ENDLESS = 60
"""CPU seconds after which a pattern is taken never to end: thousands of times what the slowest takes on a small text."""


PIECES = {"citegraph/corpus/extraction/contract_parties.py": 1_500, "citegraph/answer/model_text.py": 4_000}
"""Characters of what the patterns of a module are given: pieces of a text, not the whole (`parties.REACH`, the end of a reply)."""


@dataclass(frozen=True)
class Found:
    """A pattern, where it stands, and the methods that it is used by ("search" unless only others are)."""

    pattern: re.Pattern[str]
    where: str
    methods: frozenset[str] = frozenset({"search"})


def all_patterns() -> list[Found]:
    """Return every pattern once: recorded while all modules are imported, read from calls, and of the buckets."""
    found: dict[tuple[str, int], Found] = {}
    with _recorded() as records:
        for name in PACKAGES:
            package = importlib.import_module(name)
            for module in pkgutil.walk_packages(package.__path__, f"{name}."):
                if not module.name.endswith(("on_ray", "__main__")):
                    importlib.import_module(module.name)
        _of_declarations()
    uses, names = _used()
    for item in records:
        file, name = item.where.split(":")[0], names.get(item.where, "")
        # Names without a use in their own module are imported by others, under the same name.
        methods = frozenset(uses.get((file, name), ()) or uses.get(("", name), ())) or item.methods
        found.setdefault((item.pattern.pattern, item.pattern.flags), Found(item.pattern, item.where, methods))
    for key, item in _literals():
        before = found.get(key)
        found[key] = Found(
            item.pattern, item.where, item.methods | (before.methods if before else frozenset())
        )
    return sorted(found.values(), key=lambda item: item.where)


@contextmanager
def _recorded() -> Iterator[list[Found]]:
    compiled: Any = re._compile  # type: ignore[attr-defined]
    records: list[Found] = []

    def recording(pattern: Any, flags: Any) -> Any:
        made = compiled(pattern, flags)
        frame = sys._getframe(2)
        file = Path(frame.f_code.co_filename)
        if isinstance(made.pattern, str) and file.is_relative_to(ROOT) and ".venv" not in file.parts:
            records.append(Found(made, f"{file.relative_to(ROOT)}:{frame.f_lineno}"))
        return made

    re._compile = recording  # type: ignore[attr-defined]
    try:
        yield records
    finally:
        re._compile = compiled  # type: ignore[attr-defined]


def _of_declarations() -> None:
    """Read every bucket and extract from a text, so that what the declarations say is compiled."""
    from citegraph.corpus.extraction.engine import extract_document
    from citegraph.corpus.ingestion.document_ids import text_hash
    from citegraph.corpus.schema.bucket import load_buckets
    from citegraph.corpus.schema.document import Document

    text = "Invoice 7\nTotal: 3.00 EUR\nDate: 2024-01-02\nAgreement between A Inc. and B Inc."
    for bucket in load_buckets(None).values():
        extract_document(bucket, Document("a", bucket.name, text, "a.txt", text_hash(text)))


def _trees() -> Iterator[tuple[str, ast.AST]]:
    for name in PACKAGES:
        for file in sorted((ROOT / name).rglob("*.py")):
            yield str(file.relative_to(ROOT)), ast.parse(file.read_text("utf-8"))


def _used() -> tuple[dict[tuple[str, str], set[str]], dict[str, str]]:
    """Return the methods by which patterns are used, by file ("": any) and name; names of compiled ones by place."""
    uses: dict[tuple[str, str], set[str]] = {}
    names: dict[str, str] = {}
    for file, tree in _trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in CALLS and isinstance(node.value, ast.Name):
                for where in (file, ""):
                    uses.setdefault((where, node.value.id), set()).add(node.attr)
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                names[f"{file}:{node.value.lineno}"] = node.targets[0].id
    return uses, names


def _literals() -> Iterator[tuple[tuple[str, int], Found]]:
    """Yield patterns that stand in calls of `re` other than to compile them."""
    for file, tree in _trees():
        for node in ast.walk(tree):
            call = _call(node)
            if call is None or call[0] == "compile":
                continue
            method, pattern, flags = call
            made = re.compile(pattern, flags)
            where = f"{file}:{node.lineno}"  # type: ignore[attr-defined]
            yield (made.pattern, made.flags), Found(made, where, frozenset({method}))


def _call(node: ast.AST) -> tuple[str, str, int] | None:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
        return None
    named = isinstance(node.func.value, ast.Name) and node.func.value.id == "re" and node.func.attr in CALLS
    first = node.args[0]
    if not named or not isinstance(first, ast.Constant) or not isinstance(first.value, str):
        return None
    given = [*node.args[1:], *(item.value for item in node.keywords if item.arg == "flags")]
    flags = 0
    for item in given:
        for part in ast.walk(item):
            if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == "re":
                flag = getattr(re, part.attr, 0)
                flags |= int(flag) if isinstance(flag, re.RegexFlag) else 0
    return node.func.attr, first.value, flags


UNITS = (
    *" \n\ta0AIVi1.,-()[]{}<>|€$%'\"/:;_#&*=+?~éß世ä١½\u00a0\u00ad\u200b",
    *(
        "a ~A ~Aa~Aa ~1 ~1,~1.~1-~1/~1:~a.~A.~a-~a,~a'~a b ~I ~XVI ~and ~the ~of the ~not ~und ~der ~"
        "de la ~1 a ~a1 ~€1 ~1 EUR ~USD 1,000.00 ~January ~Jan 1 ~2024-01-01 ~12/31/2024 ~31.12.2024~"
        "at least ~between 1 and 2 ~more than 1 ~(a ~a) ~[1] ~[a]~“a” ~“~« ~a: ~: ~a:\n~\n\n~\n ~ \n~"
        "\r\n~a\n~1\n~A\n~| a ~- ~...~. . ~No. ~§ 1 ~www.~http://~a@~a@a.~<a>~</~<!--~&amp;~\\~^~1 000 ~"
        "1,000~0.0~twenty ~one hundred ~GmbH ~Inc. ~& Co. ~Rev. 1 ~v1.~A-1 ~AB12-~what is ~how many ~"
        "who ~which of ~the sum of ~without ~except ~no ~by ~per ~each ~Total: ~Invoice ~Agreement ~"
        "Article 1 ~Section 1.1 ~page 1 of 1 ~5 V ~10 kΩ ~mm x ~3 x 4 ~aA~a1~1a~A1~_a~a_~-a~.a~ a~  a~"
        "a  ~1  ~ 1~\ta~ .~. ~, ~; a"
    ).split("~"),
)
ENDS = ("", "\x00")


GENERAL = 16
"""Units of the list that a pattern meets beside its own where not all are tried."""


@lru_cache(maxsize=2 * len(UNITS) * 2)
def hostile_text(length: int, unit: str, end: str) -> str:
    """Return a text of a length: a unit again and again, with an end that fits nothing on each line."""
    # As much as is left of it, again and again: a hostile file says it on every line and page.
    once = bounded(unit * (LINE // len(unit) + 1) + end) + "\nx\n"
    return bounded(once * (length // len(once) + 1))[:length]


def units_for(pattern: re.Pattern[str], general: int | None = GENERAL) -> list[str]:
    """Return the units that a pattern is tried on: those made of itself, and some of the list, the same each time."""
    some = UNITS if general is None else random.Random(repr(pattern.pattern)).sample(UNITS, general)
    return list(dict.fromkeys([*own_units(pattern), *some]))


class _Late(Exception):
    pass


def _seconds(item: Found, method: str, text: str, most: float) -> float:
    """Return the CPU seconds of one use; infinite when it takes longer than `most`."""

    def late(*_: Any) -> None:
        raise _Late

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, most)
    began = time.process_time()
    try:
        if method in {"match", "fullmatch"}:
            getattr(item.pattern, method)(text)
        else:
            for _ in item.pattern.finditer(text):
                pass
        return time.process_time() - began
    except _Late:
        return float("inf")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _tried(item: Found, general: int | None) -> Iterator[tuple[str, Callable[[int], str]]]:
    """Yield (method, what makes a text of a length) for each way in which a pattern is used, and each of its texts."""
    most = next((most for file, most in PIECES.items() if item.where.startswith(file)), LARGE)

    def text(unit: str, end: str, length: int) -> str:
        return hostile_text(min(length, most), unit, end)

    for method in {method if method in {"match", "fullmatch"} else "search" for method in item.methods}:
        for unit, end in product(units_for(item.pattern, general), ENDS):
            yield method, partial(text, unit, end)


def endless(item: Found, general: int | None = GENERAL) -> str | None:
    """Return the beginning of the first small text on which a pattern does not come to an end, if there is one."""
    return next(
        (
            f"{item.where} {method} {text(SMALL)[:12]!r} {item.pattern.pattern[:90]!r}"
            for method, text in _tried(item, general)
            if _seconds(item, method, text(SMALL), ENDLESS) == float("inf")
        ),
        None,
    )


def steep(item: Found, general: int | None = GENERAL) -> tuple[float, float, str] | None:
    """Return (seconds on a small text, on a large one, the text) of the first text that costs more than its size.

    Args:
        general: how many units of the list are tried beside the pattern's own; None for all of them.
    """
    for method, text in _tried(item, general):
        small = text(SMALL)
        first = _seconds(item, method, small, 5)
        if first < NEAR_NOTHING:
            continue
        large = text(LARGE)
        second = _seconds(item, method, large, 30 * first)
        for _ in range(TIMES - 1):
            if second <= NOTICED or second <= STEEPEST * first:
                break
            first = min(first, _seconds(item, method, small, 5))
            second = min(second, _seconds(item, method, large, 30 * first))
        else:
            return first, second, large[:12] + "..." + large[-4:]
    return None


SHORT_LIST = "short"
"""Argument of the program: each pattern only on the general texts that `steep` takes by default."""


def main() -> None:
    """Print the patterns that cost too much, and how many there are."""
    patterns = all_patterns()
    bad = 0
    for item in patterns:
        cost = steep(item, GENERAL if SHORT_LIST in sys.argv else None)
        if cost:
            bad += 1
            what = f"{cost[2]!r} {item.pattern.pattern[:90]!r}"
            print(f"{item.where} {sorted(item.methods)} {cost[0]:.3f} {cost[1]:.2f} {what}", flush=True)
    print(f"{counted(patterns)}; {bad} over the bound")


def counted(patterns: Sequence[Found]) -> str:
    """Return how many patterns there are, and of which packages."""
    packages = ", ".join(sorted({item.where.split("/")[0] for item in patterns}))
    return f"{len(patterns)} patterns in {packages}"


if __name__ == "__main__":
    main()
