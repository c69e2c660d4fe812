"""Words of a question: mended slips, declared words and phrases in any form of their noun, what may be a condition."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache

from rapidfuzz.distance import OSA

from citegraph.corpus.schema.bucket import Bucket
from citegraph.encoder.multilingual import SAID, Slot, asked_runs, tag_question
from citegraph.encoder.pieces import is_one_piece
from citegraph.language import terms
from citegraph.language.terms import bare, inflections, same_noun, signs, stop_words
from citegraph.language.word_tables import alternation, pattern, source, table
from citegraph.question import cues

PLURAL = re.compile(rf"(?:{alternation('asking', 'plural_endings')})$")
"""Ends a noun of several, where it is longer than or another form of its singular."""


@lru_cache(maxsize=16384)
def _pattern(phrase: str) -> re.Pattern[str]:
    """Return the pattern of a phrase; which forms of its words are meant, the last one and long ones, is left to `same_noun`."""
    *first, last = _parts(phrase)[0]
    before = [_begun(word) if _bends(word) else re.escape(word) for word in first]
    end = _begun(last) if last.isalpha() else re.escape(last)
    body = rf"{CLITIC}[-\s]+".join(f"({word})" for word in [*before, end])
    return re.compile(rf"(?<!\w){body}(?!\w)", re.IGNORECASE)


def _bends(word: str) -> bool:
    """Tell whether a word before the last one of a phrase has other forms: "fiches de données"."""
    return word.isalpha() and len(word) > terms.SHORT


def _begun(word: str) -> str:
    """Return the pattern of words that begin like a word, with its vowel or an umlaut."""
    return rf"[{re.escape(''.join(_begins(word)))}][^\W\d_]*"


@lru_cache(maxsize=4096)
def _begins(word: str) -> frozenset[str]:
    """Return the letters with which forms of a word begin."""
    letter = bare(word[:1])
    return frozenset({word[0], letter, UMLAUTS[letter]} if letter in UMLAUTS else {word[0]})


CLITIC = rf"(?:-t)?(?:-(?:{alternation('asking', 'clitics')}))?"
"""What French puts behind a verb that asks: "reste-t-il à payer"."""
UMLAUTS = {"a": "ä", "o": "ö", "u": "ü"}


@lru_cache(maxsize=16384)
def _parts(phrase: str) -> tuple[tuple[str, ...], str, str]:
    """Return the words of a phrase, in small letters, and how all forms of the first of several and of the last one begin."""
    words = tuple(re.split(r"[\s\-]+", phrase.strip().lower()))
    return words, words[0][: terms.SHORT] if len(words) > 1 else "", bare(words[-1])[:2]


@lru_cache(maxsize=16_384)
def _is_form(said: str, word: str) -> bool:
    return said == word or (word.isalpha() and same_noun(said, word))


@lru_cache(maxsize=16)
def _by_letter(text: str) -> Mapping[str, Sequence[tuple[str, tuple[int, int]]]]:
    """Return the words of a text that are nothing but letters, in small ones, with their characters, by how they begin."""
    found: dict[str, list[tuple[str, tuple[int, int]]]] = defaultdict(list)
    for match in _LETTERS.finditer(text):
        found[match[0][0].lower()].append((match[0].lower(), match.span()))
    return found


_LETTERS = re.compile(r"(?<!\w)[^\W\d_]+(?!\w)")


def find_phrase(text: str, phrase: str) -> list[tuple[int, int]]:
    """Return the character spans of `phrase` in `text`, whole words, in whatever form."""
    parts, first, last = _parts(phrase)
    if not _may_hold(text, last) or first not in text.lower():
        return []
    if len(parts) == 1 and parts[0].isalpha():
        known = _by_letter(text)
        alike = (word for letter in _begins(parts[0]) for word in known.get(letter, ()))
        return sorted(span for said, span in alike if _is_form(said, parts[0]))
    return [
        match.span()
        for match in _pattern(phrase).finditer(text)
        if all(_is_form(said.lower(), word) for said, word in zip(match.groups(), parts, strict=True))
    ]


def said_in(text: str, phrases: Iterable[str]) -> set[str]:
    """Return those of many phrases that `find_phrase` finds in a text."""
    return {phrase for phrase in phrases if find_phrase(text, phrase)}


def _may_hold(text: str, begin: str) -> bool:
    """Tell whether a word of a text begins with two letters, or they stand anywhere in it and are none."""
    return begin in _beginnings(text) or (not begin.isalnum() and begin in bare(text))


@lru_cache(maxsize=32)
def _beginnings(text: str) -> frozenset[str]:
    return frozenset(word[:2] for word in _RUNS.findall(bare(text)))


_RUNS = re.compile(r"\w+")


def is_written(word: str, other: str) -> bool:
    """Tell whether a bare word is another one: in another form of it, or misspelt."""
    if word[:5] == other[:5] and min(len(word), len(other)) > 4 and abs(len(word) - len(other)) <= ENDING:
        return True
    slips = (len(word) > 5) + (len(word) > 9)
    pairs = ((word, other), (terms.stem(word), terms.stem(other)))
    return any(OSA.distance(one, two, score_cutoff=slips) <= slips for one, two in pairs)


ENDING = 4
"""Letters by which two forms of a word differ; a compound ("Lieferanteneingang") has more."""


GENERAL_DOCUMENTS = re.compile(
    rf"\b(?:(?P<several>{alternation('asking', 'general_documents')})|{alternation('asking', 'general_document')})\b",
    re.IGNORECASE,
)
"""A word for documents of every kind; `several` where it is a plural."""


def document_words(bucket: Bucket) -> tuple[str, ...]:
    """Return the words for a bucket's documents: its nouns, and the declared kinds of them ("Lizenzvertrag")."""
    kinds = (item for item in bucket.fields if item.type == "keyword" and "type" in item.name)
    return _nouns_and_kinds(bucket.nouns, tuple(tuple(item.canonical) for item in kinds))


@lru_cache(maxsize=256)
def _nouns_and_kinds(nouns: tuple[str, ...], kinds: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    """Return nouns, and the values of those fields of which one is said by a noun ("root certificate")."""
    return (*nouns, *(form for forms in kinds if any(said_in(one, nouns) for one in forms) for form in forms))


def clean(question: str) -> str:
    """Return the question without greetings and filler; the original when nothing would be left."""
    text = cues.FILLER.sub(" ", cues.GREETING.sub("", question))
    text = re.sub(r"\s+([?.!,])(?!\w)", r"\1", re.sub(r"\s{2,}", " ", text))
    text = re.sub(r"[,;]+(?=[?.!]+$)", "", text.strip(" ,;"))
    text = re.sub(r"^[,.;:!\s]+", "", text)
    return text or question.strip()


def named(asked: Sequence[str], phrases: tuple[str, ...]) -> frozenset[str]:
    """Return the phrases that occur in the question word for word, the last one in any form of its noun."""
    return _named(tuple(asked), phrases)


@lru_cache(maxsize=4096)
def _named(asked: tuple[str, ...], phrases: tuple[str, ...]) -> frozenset[str]:
    text, starts, whole = " ".join(asked), {word[:2] for word in asked}, set(asked)
    return frozenset(
        phrase
        for phrase, first, folded in _folded(phrases)
        if (first in whole or f"{first}s" in whole if first else folded[:2] in starts)
        and find_phrase(text, folded)
    )


@lru_cache(maxsize=4096)
def _folded(phrases: tuple[str, ...]) -> tuple[tuple[str, str, str], ...]:
    """Return each phrase with its first word ("" of a single one, all of whose forms begin alike) and folded."""
    split = [(phrase, terms.words(phrase)) for phrase in phrases]
    return tuple(
        (phrase, words[0] if len(words) > 1 else "", " ".join(words)) for phrase, words in split if words
    )


def conditions_among(question: str, words: Sequence[str], *slots: Slot) -> list[str]:
    """Return those of some bare words that have one of the parts `slots` in the question: what tells documents apart or is wanted.

    Args:
        slots: all parts but "none" where none is given.
    """
    telling = _with_part(question, slots or ("included", "excluded", "asked"), LEAST)
    known = {terms.bare(match.group()) for match in terms.WORD.finditer(question)}
    return [word for word in words if word in telling or word not in known]


def included_among(
    question: str, words: Sequence[str], least: float = SAID, slot: Slot = "included"
) -> list[str]:
    """Return those of some bare words that are conditions which the documents must meet, with a share of `least` or more.

    Args:
        slot: "excluded" for conditions that they must not meet.
    """
    included = _with_part(question, (slot,), least)
    return [word for word in words if word in included]


def left_out_words(question: str) -> set[str]:
    """Return the bare words of what the answer is not to be about: "the yearly fees, leave the value of the meals out of it"."""
    said = [match[0] for match in _left_out().finditer(question)]
    return _with_part(question, ("excluded",), SURELY) | set(terms.content_words(" ".join(said)))


@cache
def _left_out() -> re.Pattern[str]:
    """Return what is left out behind a word that says so, up to the end of its clause."""
    return re.compile(rf"{source('except')}\s[^.,;:?!()]+", re.IGNORECASE)


SURELY = 0.9
"""Share from which a word is surely a condition, or surely left out."""


def _with_part(question: str, slots: Sequence[Slot], least: float) -> set[str]:
    """Return the bare words of a question that have one of some parts in it, with a share of `least` or more in all."""
    tagged = tag_question(question)
    return {
        terms.bare(match.group())
        for match in terms.WORD.finditer(question)
        if sum(tagged.slot(*match.span(), slot) for slot in slots) >= least
    }


LEAST = 0.3
"""Share of a part below which a word does not have it."""


SHORTEST = 5
"""Letters from which a word is looked at: between shorter ones lies too little ("form", "from")."""
_WORD = re.compile(r"(?<![\w'’.@/-])[^\W\d_]{5,}(?![\w'’@/-])")


def spelled(question: str, declared: Iterable[str], held: Callable[[str], bool]) -> tuple[str, list[str]]:
    """Return a question with its slips mended, and a line about each.

    Only a word that is none is mended, into a word of asking, counting and comparing or a declared one: what names a
    value, or is an English word, may be meant as it stands, unless the word before it says what it is ("how manny").
    A capital inside the question makes a name.

    Args:
        declared: words for the documents and fields of any bucket.
        held: whether a bare word is a part of a stored value.
    """
    known, near = _vocabulary(tuple(declared))
    lines: list[str] = []
    begins = len(question) - len(question.lstrip())

    def mended(match: re.Match[str]) -> str:
        said = match.group()
        word = bare(said)
        name = said != said.lower() and not (match.start() == begins and said[1:] == said[1:].lower())
        if name or word in known:
            return said
        plural = word.endswith("s") and word[:-1] not in known
        meant = _meant(word, near)
        ending = ""
        if meant is None and plural and (meant := _meant(word[:-1], near)) is not None:
            ending = "s"
        before = re.search(r"([^\W\d_]+)\s+$", question[: match.start()])
        said_by = meant is not None and before is not None and (bare(before[1]), meant) in _pairs()
        if meant is None or not (said_by or not (_is_word(word, known) or held(word))):
            return said
        written = known[meant] + ending
        lines.append(f"“{said}” was read as “{written}”.")
        return written

    return _WORD.sub(mended, question), lines


@lru_cache(maxsize=64)
def _vocabulary(
    declared: tuple[str, ...],
) -> tuple[Mapping[str, str], Mapping[tuple[str, int], Sequence[str]]]:
    """Return the words into which a slip is mended, bare to how they are written, and those by their form."""
    known = {**_asking(), **{bare(word): word for one in declared for word in one.split() if word.isalpha()}}
    return known, _by_form(known)


@cache
def _pairs() -> frozenset[tuple[str, str]]:
    """Return the phrases of two words of the tables of questions, bare."""
    phrases = (phrase for lines in table("questions").values() for line in lines for phrase in line)
    parts = (bare(phrase).split() for phrase in phrases)
    return frozenset((pair[0], pair[1]) for pair in parts if len(pair) == 2)


@cache
def _asking() -> dict[str, str]:
    """Return the words of the tables of questions and of asking, bare, each as it is written."""
    listed = [phrase for lines in table("questions").values() for line in lines for phrase in line]
    months = [name.partition(":")[2] for names in table("cldr_months").values() for name in names.split()]
    words = [word for phrase in listed for word in re.findall(r"(?<!['’])\b[^\W\d_]+\b(?!['’])", phrase)]
    return {bare(word): word for word in (*stop_words(), *months, *words) if len(word) >= SHORTEST - 1}


def _is_word(word: str, known: Mapping[str, str]) -> bool:
    """Tell whether a bare word is one: of the tables, in a form of it, or a whole word of the encoder's vocabulary."""
    if word in stop_words("general") or word in signs():
        return True
    if any(form in known for form in inflections(word)):
        return True
    return is_one_piece(word)


def _by_form(known: Iterable[str]) -> Mapping[tuple[str, int], Sequence[str]]:
    """Return words by their first letter and length: a slip is seldom in the first one."""
    found: dict[tuple[str, int], list[str]] = defaultdict(list)
    for word in known:
        if len(word) >= SHORTEST - 1:
            found[word[0], len(word)].append(word)
    return found


def _meant(word: str, near: Mapping[tuple[str, int], Sequence[str]]) -> str | None:
    """Return the only word that one slip of the fingers makes this one, None without one."""
    around = [one for size in (-1, 0, 1) for one in near.get((word[0], len(word) + size), ())]
    found = [one for one in around if OSA.distance(word, one, score_cutoff=1) == 1 and _is_slip(word, one)]
    return found[0] if len(found) == 1 else None


LONG = 8
"""Letters from which one letter in place of another is taken for a slip: shorter words would become each other."""


def _is_slip(said: str, meant: str) -> bool:
    """Tell whether two words differ as fingers slip: two letters swapped, one doubled, or one lost or added inside."""
    if len(said) == len(meant):
        swapped = sorted(said) == sorted(meant)
        return swapped or len(said) >= LONG
    shorter, longer = sorted((said, meant), key=len)
    place = next((n for n, letter in enumerate(shorter) if letter != longer[n]), len(shorter))
    doubled = place > 0 and longer[place] == longer[place - 1]
    return doubled or (0 < place < len(shorter) and len(longer) >= SHORTEST + 1)


@cache
def _border() -> re.Pattern[str]:
    """Return what stands between two parts of a message: a stop, or a word that joins them."""
    joint = source("and", "and_before_a_question")
    return re.compile(rf"\s*(?:[.;:?!&+]|,|\s{joint}\s)[\s.;:?!&+,]*(?:{joint}\s+)?", re.IGNORECASE)


@cache
def _led() -> re.Pattern[str]:
    """Return how a part begins that asks: with a word of asking among its first three."""
    return re.compile(rf"(?:\W*\w+){{0,2}}?\W*{source('interrogative')}", re.IGNORECASE)


def wants(question: str) -> list[str]:
    """Return the parts of a question of which each begins with a word of asking and says something, the whole question where
    there are not several.

    What stands before the first one, and a part that asks nothing, go with the part beside it.
    """
    named = asked_runs(question)
    parts: list[tuple[int, int]] = []
    start = 0
    borders = [match.span() for match in _border().finditer(question)]
    for end, after in [*borders, (len(question), len(question))]:
        piece = question[start:end]
        within = any(first + 1 < start < last for first, last in named)  # a run begins with its blank
        asks = _led().match(piece) is not None and bool(terms.content_words(piece)) and not within
        if asks and parts and pattern("interrogative").search(question, *parts[-1]):
            parts.append((start, end))
        else:
            parts[-1:] = [(parts[-1][0] if parts else start, end)]
        start = after
    return [question[slice(*part)].strip() for part in parts]
