"""Words of natural languages stand in the tables of `citegraph/language/words/`, not in lists or patterns of the code."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from citegraph.language.terms import stop_words
from citegraph.language.word_tables import table

ROOT = Path(__file__).parents[1]
PACKAGES = ("citegraph", "nodes", "graph", "tools", "server", "cli", "evals")
MODULES = sorted(path for name in PACKAGES for path in (ROOT / name).rglob("*.py"))
FEWEST = 3
"""Words from which on a list is one."""
_WORD = re.compile(r"[a-zà-öø-ÿß]{2,}")
_ADORNED = re.compile(
    r"(?:\(\?(?:P<\w+>|[:=!]|<[=!])|\\[bsSWwd][*+?]?|[\^( \[\]*+?]|\{[\d,]*\})*([a-zà-öø-ÿß]{2,})(?![\w=])"
)
"""An alternative of a pattern that begins with a word, whatever stands before it."""
ALLOWED = {
    "addresses that may not be opened": ("citegraph/answer/after_check.py: https",),
    "names of functions that a model may write": ("citegraph/answer/model_text.py: difference",),
    "keys of a tool call": ("citegraph/citations/prompt_injection.py: function",),
    "properties of CSS": (
        "citegraph/citations/prompt_injection.py: display",
        "citegraph/citations/prompt_injection.py: visibility",
        "citegraph/corpus/readers/web/css_hidden.py: px",
        "citegraph/corpus/readers/web/css_hidden.py: display",
        "citegraph/corpus/readers/web/css_hidden.py: rect",
    ),
    "operators of filters": ("citegraph/corpus/filters/clause.py: not",),
    "codes of languages": (
        "citegraph/corpus/index/collection_record.py: chinese",
        "citegraph/corpus/readers/images/recognition.py: eng",
        "citegraph/language/numbers.py: es",
        "citegraph/language/periods.py: en",
        "citegraph/language/terms.py: en",
    ),
    "letters by which encodings are told apart": ("citegraph/corpus/readers/encodings.py: äöüßé",),
    "endings of files": ("citegraph/corpus/readers/pdf/pdf_document.py: untitled",),
    "elements of HTML": (
        "citegraph/corpus/readers/web/html.py: script",
        "citegraph/corpus/readers/web/html.py: address",
        "citegraph/corpus/readers/web/html.py: hidden",
    ),
    "kinds of words of the tables": ("citegraph/plan/unbound.py: contrast",),
    "messages of SQLite": ("citegraph/corpus/records/database.py: malformed",),
    "keys of a declaration": ("citegraph/corpus/schema/bucket.py: field",),
    "endings of words, which are no words": (
        "citegraph/language/claim_tokens.py: ational",
        "citegraph/language/claim_tokens.py: ss",
        "citegraph/language/terms.py: um",
    ),
    "names of units in pint": ("citegraph/language/units.py: celsius",),
    "packages": ("citegraph/llm/foreign_errors.py: httpx",),
    "tags of a model's thinking": ("citegraph/llm/outcome.py: think",),
    "parts of a table of words": (
        "citegraph/question/negation.py: except",
        "citegraph/question/ordering.py: largest",
    ),
    "commands": ("cli/commands.py: ask",),
    "names of signs": ("citegraph/corpus/extraction/choice.py: any",),
}
"""Lists that may stay, by the reason why, as "module: first word"."""


def lists(source: str) -> Iterator[list[str]]:
    """Yield the words of each pattern of alternatives, and of each collection or text of words, in a module."""
    tree = ast.parse(source)
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            found = [word[1] for part in node.value.split("|") if (word := _ADORNED.match(part))]
            if "|" in node.value and len(found) >= FEWEST:
                yield found
        words: list[str] = []
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            words = [
                one.value for one in node.elts if isinstance(one, ast.Constant) and isinstance(one.value, str)
            ]
        elif isinstance(node, ast.Dict):
            words = [
                one.value for one in node.keys if isinstance(one, ast.Constant) and isinstance(one.value, str)
            ]
        elif (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "split"
        ):
            said = node.func.value
            words = (
                said.value.split() if isinstance(said, ast.Constant) and isinstance(said.value, str) else []
            )
        unknown = [word for word in words if _WORD.fullmatch(word) and word not in names()]
        if len(unknown) >= FEWEST:
            yield words


@cache
def names() -> frozenset[str]:
    """Return the names of the code: variables, attributes, arguments, keys of typed dicts, members of literals."""
    found: set[str] = set()
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Name):
                found.add(node.id)
            elif isinstance(node, ast.Attribute):
                found.add(node.attr)
            elif isinstance(node, ast.arg | ast.keyword):
                found.add(node.arg or "")
            elif isinstance(node, ast.Subscript):
                found |= {
                    one.value
                    for one in ast.walk(node.slice)
                    if isinstance(one, ast.Constant) and isinstance(one.value, str)
                }
    return frozenset(found)


def test_no_list_of_words_stands_in_the_code() -> None:
    found = {
        f"{path.relative_to(ROOT).as_posix()}: {next(word for word in words if _WORD.fullmatch(word))}"
        for path in MODULES
        for words in lists(path.read_text("utf-8"))
    }
    allowed = {entry for entries in ALLOWED.values() for entry in entries}
    assert sorted(found - allowed) == [], "they belong into citegraph/language/words"
    assert sorted(allowed - found) == [], "these are gone: take them off the list"


@pytest.mark.parametrize(
    "source",
    [
        're.compile(r"\\b(?:gestern|heute|morgen)\\b")',
        're.compile(rf"{DAY}\\s+(ayer|hoy|mañana)")',
        'DAYS = ("gestern", "heute", "morgen")',
        'DAYS = frozenset("gestern heute morgen".split())',
        'DAYS = {"ieri": -1, "oggi": 0, "domani": 1}',
    ],
)
def test_lists_of_words_are_found(source: str) -> None:
    assert len(list(lists(source))) == 1


def test_names_of_the_code_are_no_words() -> None:
    assert list(lists('FUNCTIONS = ("sum", "average", "median")')) == []
    assert list(lists('def f():\n    """Says one|two|three."""')) == []


_IN_PATTERN = re.compile(r"(?<![\\\w<{])[a-zà-öø-ÿß]{2,}(?![\w>}])")
READING = ("question", "plan", "evidence", "answer", "corpus/linking")
"""Folders of the library whose patterns read what people write."""
SMALL = {"citegraph/question/negation.py: of"}
"""The Dutch "of", which is an "or" where the question is Dutch."""


def small_words(source: str) -> Iterator[str]:
    """Yield the articles, prepositions and the like that stand in the patterns of a module, endings left out."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        made = isinstance(node.func, ast.Name) and node.func.id == "pattern"
        given = [one.value for one in node.keywords if one.arg in {"before", "after"}] if made else []
        if isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == "re":
            given += node.args[:1]
        asked = {
            id(one)
            for given_one in given
            for call in ast.walk(given_one)
            if isinstance(call, ast.Call)
            for one in call.args
        }
        for part in (one for given_one in given for one in ast.walk(given_one)):
            if isinstance(part, ast.Constant) and isinstance(part.value, str) and id(part) not in asked:
                said = re.sub(r"\\[A-Za-z]|\(\?P<\w+>", " ", part.value)
                yield from (word for word in _IN_PATTERN.findall(said) if word in stop_words("grammar"))


def test_patterns_that_read_questions_hold_no_small_word() -> None:
    found = {
        f"{path.relative_to(ROOT).as_posix()}: {word}"
        for folder in READING
        for path in (ROOT / "citegraph" / folder).rglob("*.py")
        for word in small_words(path.read_text("utf-8"))
    }
    assert found == SMALL


@pytest.mark.parametrize(
    "source",
    [
        're.compile(r"\\s+(?:the\\s+)?")',
        'pattern("each", after=r"\\s+den")',
        're.sub(rf"{DAY} of ", "", text)',
    ],
)
def test_small_words_in_patterns_are_found(source: str) -> None:
    assert len(list(small_words(source))) == 1


def test_every_part_of_a_table_is_used() -> None:
    said = "".join(path.read_text("utf-8") for path in MODULES)
    tables = ("statements", "asking", "answer_forms", "labels", "said_to_programs")
    parts = {(name, part) for name in tables for part in table(name)} - {
        ("said_to_programs", part) for part in table("said_to_programs")["holds"]
    }
    assert sorted(part for part in parts if not re.search(rf"[\"']{part[1]}[\"']", said)) == []
