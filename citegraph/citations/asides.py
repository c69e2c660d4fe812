"""What an answer says beside its claims: headings, questions, remarks, code. None of it may state a fact of its own."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from citegraph.citations.claims import says_not_found
from citegraph.citations.facts import hard_facts
from citegraph.citations.repair import MARK, tidy
from citegraph.citations.verdicts import Claim
from citegraph.language.claim_tokens import content_stems, word_list

LINK = re.compile(r"https?://|www\.|\]\(|<\s*/?\s*[a-z!][^<>]*>|\bjavascript:|\bdata:\w+/", re.IGNORECASE)
FENCE = re.compile(r"^[ \t]*(?:```|~~~)")
ITEM = re.compile(r"^\s*(?:#{1,6}|[-*•–]|\(?\d{1,3}[.)])(?:\s+|$)")
SENTENCE = re.compile(r"[^.!?。？！\n]+(?:[.!?。？！]+(?=\s|$)|[.!?](?=\S)[^.!?\n]*)*[.!?。？！]*")
PLAIN = frozenset(
    stem
    for word in word_list("""
        answer answers summary overview comparison compared conclusion result results detail details difference
        differences contradiction contradictions conflict conflicts note notes source sources evidence document documents
        missing gap gaps list table total both following found yes no unclear unknown incomplete certain sure
        antwort zusammenfassung überblick vergleich ergebnis ergebnisse unterschied unterschiede widerspruch widersprüche
        hinweis quelle quellen beleg belege dokument dokumente fehlend liste tabelle ja nein unklar
        réponse résumé aperçu comparaison conclusion résultat résultats différence différences contradiction remarque
        source sources document documents liste tableau oui non""")
    for stem in content_stems(word)
)
"""Stems of the words that order an answer without saying anything about the documents."""


@dataclass(frozen=True, slots=True)
class Aside:
    """A piece of an answer outside its claims that says something which nothing was held against."""

    start: int
    end: int
    reason: str


def without_asides(text: str, claims: Sequence[Claim], question: str) -> tuple[str, list[str]]:
    """Return the answer without its unchecked pieces, and one note for people for each.

    Args:
        text: the answer that the claims were found in.
        claims: its claims, all of them backed or marked by now.
        question: what was asked; its facts and words may be repeated anywhere.
    """
    found = asides(text, claims, question)
    notes = [
        f'"{" ".join(text[item.start : item.end].split())[:80]}": removed, {item.reason}' for item in found
    ]
    for item in reversed(found):
        text = text[: item.start] + text[item.end :]
    return (tidy(text), notes) if found else (text, notes)


def asides(text: str, claims: Sequence[Claim], question: str) -> list[Aside]:
    """Return the pieces outside the claims that state a fact, lead elsewhere or were never checked, in order."""
    known = " ".join([question, MARK, *(claim.text for claim in claims)])
    facts = {_fact_key(fact.text) for fact in hard_facts(known)}
    stems = PLAIN | set(content_stems(known))
    found = []
    for start, end, code in _pieces(text, claims):
        reason = "it is code and was not checked" if code else _objection(text[start:end], facts, stems)
        if reason:
            found.append(Aside(start, end, reason))
    return found


def _objection(piece: str, facts: set[str], stems: frozenset[str]) -> str:
    """Return why a piece may not stay, "" when it may."""
    if LINK.search(piece):
        return "it leads out of the documents"
    body = ITEM.sub("", piece)
    if any(_fact_key(fact.text) not in facts for fact in hard_facts(body)):
        return "it states a value and cites nothing"
    if says_not_found(piece) or "|" in piece:  # a table's cells are claims; what is left are its titles
        return ""
    if any(stem not in stems for stem in content_stems(body)):
        return "it is no statement that could be checked"
    return ""


def _fact_key(printed: str) -> str:
    return " ".join(printed.casefold().split())


def _pieces(text: str, claims: Sequence[Claim]) -> Iterator[tuple[int, int, bool]]:
    """Yield (start, end, is code) of each sentence or line outside the claims; a fenced block is one piece."""
    taken = sorted((claim.start, claim.end) for claim in claims)
    at, fenced = 0, -1
    for line in text.splitlines(keepends=True):
        start, end = at, at + len(line)
        at = end
        if FENCE.match(line):
            if fenced < 0:
                fenced = start
            else:
                yield fenced, end, True
                fenced = -1
            continue
        if fenced < 0:
            for begin, stop in _free(start, end, taken):
                if line.count("|") >= 2:
                    yield begin, stop, False
                    continue
                for match in SENTENCE.finditer(text, begin, stop):
                    if re.search(r"\w", match.group()):
                        yield match.start(), match.end(), False
    if fenced >= 0:
        yield fenced, len(text), True


def _free(start: int, end: int, taken: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the parts of [start, end) that no claim covers."""
    for begin, stop in taken:
        if stop <= start or begin >= end:
            continue
        if begin > start:
            yield start, begin
        start = max(start, stop)
    if start < end:
        yield start, end
