"""Where one document leads on: the part of the question that it answers gives way to what it says, and the rest is asked on."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from statistics import mean

from citegraph.answer.extracts import Passage
from citegraph.answer.found_spans import STATED, around, near_windows, says_more
from citegraph.answer.one_document import Told, reading_of, similarity_to
from citegraph.citations.facts import hard_facts
from citegraph.citations.prompt_injection import without_orders
from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.document import Document
from citegraph.encoder.finder import LIKELY, PLAUSIBLE, Finder, probable
from citegraph.evidence.candidates import own_names
from citegraph.evidence.next_calls import allowed_buckets, enough, free_search
from citegraph.evidence.passages import as_searched, hydrate, signature
from citegraph.language.terms import bare, content_words, small_words, stem, words
from citegraph.question.answer_form import value_form_of
from citegraph.run.budgets import spent, tool_calls_left
from citegraph.run.context import Context
from citegraph.run.model_calls import note
from citegraph.run.services import Corpus
from citegraph.run.state import State
from citegraph.run.state_types import Chain, Decision, Hop, Plan, Step

LEFT, RIGHT = 3, 3
"""Runs of content words before the name that it is about, and words behind it, by which a part of a question grows."""
PARTS = 6
"""Parts of a question that a document is asked, the shortest ones."""
WINDOWS = 2
"""Windows that are read of a document, those nearest to the question."""
NAMES = 2
"""Names that are followed at once."""
WORDINGS = 2
"""Ways to cut the question of one name that are asked on."""
ARRIVED = 3
"""Documents that are read for a name."""
NAMED, MENTIONS, STATES = 0.26, -0.5, 0.5
"""The log-odds that a document gains that bears the name itself, that only mentions it, and that bears it and states a field which
the first one lacks.
"""


async def lead_on(corpus: Corpus, state: State, context: Context, decision: Decision) -> Decision:
    """Return a decision to answer from one document, or the searches for what it names; in a later round the documents
    that its names led to, or else what was decided first.
    """
    chain = state.get("decision", {}).get("chain")
    if chain is None:
        if not may_lead(corpus, state, decision):
            return decision
        first = await reading_of(corpus, state["plan"], decision["targets"][0], state["question"])
        lacking = lacking_fields(corpus, state["plan"], first) if first else []
        if first is None or (first.stated and not lacking):
            return decision
        if _all_said(state["question"], first.document.text):
            return decision
        direct, steps = await asyncio.to_thread(
            steps_from, corpus, first.document, state["question"], sure=first.sure
        )
        chain = {"otherwise": decision, "direct": direct.score, "lacking": lacking, "steps": steps}
    else:
        reached = await arrivals(corpus, state, chain)
        best = max(reached, key=_worth, default=None)
        return _answered(best) if best and _arrived(chain, best) else chain["otherwise"]
    allowed = allowed_buckets(corpus, state["plan"], context)
    calls = [
        free_search(corpus, allowed, step["questions"][0], phrases=[step["name"]]) for step in chain["steps"]
    ]
    calls = [call for call in calls if signature(call) not in state.get("tried", [])]
    calls = calls[: tool_calls_left(state, context)]
    if not calls or spent(state, context):
        return chain["otherwise"]
    names = ", ".join(step["name"] for step in chain["steps"])
    return {"status": "more", "reason": f"the passages lead on to {names}", "calls": calls, "chain": chain}


def lacking_fields(corpus: Corpus, plan: Plan, first: Told) -> list[str]:
    """Return the fields that are asked for, and by which nothing was chosen, that a document does not state."""
    part = plan["per_bucket"].get(first.document.bucket, {})
    held = corpus.annotations.get(first.document.doc_id, first.document.bucket) or {}
    return [name for name in part.get("asked", []) if name not in held]


def may_lead(corpus: Corpus, state: State, decision: Decision) -> bool:
    """Tell whether the document that a question for a fact is to be answered from may lead to another one."""
    plan = state["plan"]
    settled = decision.get("several") or decision.get("plan") or decision.get("empty")
    chosen = decision["status"] == "enough" and decision.get("targets") and not settled
    passages = plan["intent"] == "qa" and not plan.get("only") and plan.get("metadata", True)
    return bool(corpus.finder and chosen and passages)


def steps_from(
    corpus: Corpus, document: Document, question: str, *, sure: bool
) -> tuple[Passage, list[Step]]:
    """Return what a document answers to a question, and where it leads: the parts of the question that it answers, each
    with what it says in the part's place; blocking.

    Args:
        sure: it surely answers all of the question: that is the inner question only where the answer is a name, no value of
            the form that is asked for.
    """
    finder, bucket = corpus.finder, corpus.buckets[document.bucket]
    assert finder is not None, "no finder"
    text = without_orders(document.text)
    windows = _windows(corpus, bucket, text, question)
    direct = _asked(finder, question, text, windows)
    form = value_form_of(question) if sure else None
    if form and says_more(form, direct.text, words(question)):
        return direct, []
    if sure and not any(any(map(str.isalpha, word)) for word in _new_words(direct.text, question)):
        return direct, []
    values = corpus.annotations.get(document.doc_id, bucket.name) or {}
    names = " ".join([document.title, document.doc_id, *own_names(bucket, values)])
    place = name_place(question, names, bucket.language) or name_place(question, text, bucket.language)
    found: list[Step] = []
    for start, end in parts_around(question, *place) if place else ():
        said = _asked(finder, f"{question[start:end]}?", text, windows)
        rest = f"{question[:start]} {question[end:]}"
        for name in names_in(said.text) if probable(said.score) >= PLAUSIBLE else ():
            if not _all_said(name, question) and not _all_said(rest, name):
                hop = _hop(document, question[start:end], said)
                onward = f"{question[:start]}{name}{question[end:]}"
                found.append({"name": name, "questions": [onward], "hops": [hop]})
    steps = _best(found)
    return direct, [one for one in steps if not sure or _all_said(one["name"], direct.text)]


def names_in(said: str) -> list[str]:
    """Return the first and the last name in what a document says ("Elm Street 5, Arden" names two), or else its only word.

    Names are told by capitals and digits; a quantity ("25 V") is none.
    """
    line = said.strip().rpartition("\n")[2].strip(" \t#.")
    pieces = [piece.split() for piece in APART.split(line) if piece.strip()]
    runs = [" ".join(run) for piece in pieces for named, run in groupby(piece, _is_name) if named]
    told = [run.strip(".,;:") for run in runs if any(map(str.isalpha, run))]
    told = [run for run in told if not _is_quantity(run)]
    alone = [piece[0] for piece in pieces[:1] if len(piece) == 1 and any(map(str.isalpha, piece[0]))]
    return list(dict.fromkeys([told[0], told[-1]] if told else alone))


APART = re.compile(r"[][()\"“”`]|[,;:–—](?=\s|$)")


def _is_name(word: str) -> bool:
    return word != word.lower() or any(map(str.isdigit, word))


def _is_quantity(said: str) -> bool:
    return any(fact.dimension and len(fact.text) == len(said) for fact in hard_facts(said))


def _hop(document: Document, question: str, said: Passage, gain: float = 0.0) -> Hop:
    return {
        "doc": document.doc_id,
        "question": question,
        "start": said.start,
        "end": said.end,
        "margin": said.score + gain,
    }


def _best(steps: Sequence[Step]) -> list[Step]:
    """Return the steps with the surest names, no two with the same one, each with its surest wordings."""
    chosen: list[Step] = []
    for step in sorted(steps, key=lambda item: -item["hops"][-1]["margin"]):
        said = set(content_words(step["name"]))
        known = next((item for item in chosen if said & set(content_words(item["name"]))), None)
        if known is None and len(chosen) < NAMES:
            chosen.append(step)
        elif known and known["name"] == step["name"]:
            known["questions"] = [*known["questions"], *step["questions"]][:WORDINGS]
    return chosen


def name_place(question: str, names: str, language: str) -> tuple[int, int] | None:
    """Return the characters of the longest run of a question's words that stand in some names, counted by content words."""
    held = {stem(word, language) for word in words(names)}
    small, runs = small_words(question), list[tuple[int, int, int]]()
    going = False
    for word in WORD.finditer(question):
        own = words(word[0])
        said = bool(own) and stem(own[0], language) in held
        counts = said and bare(word[0]) not in small
        if said and going:
            start, _, count = runs[-1]
            runs[-1] = (start, word.end(), count + counts)
        elif counts:
            runs.append((word.start(), word.end(), 1))
        going = said and (going or counts)
    best = max(runs, key=lambda run: (run[2], run[0] - run[1]), default=None)
    return best and best[:2]


def parts_around(question: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the parts of a question that hold some characters and more: they grow by a run of content words at a time to
    the left, by a word to the right, and to the end of the clause and of the sentence.
    """
    small = small_words(question)
    content = [word.span() for word in WORD.finditer(question) if bare(word[0]) not in small]
    heads = [
        low for at, (low, _) in enumerate(content) if not at or question[content[at - 1][1] : low].strip()
    ]
    opens = max((mark.end() for mark in CLAUSE.finditer(question, 0, start)), default=0)
    before = [low for low in reversed(heads) if low < start]
    lefts = dict.fromkeys([start, *before[:LEFT], *[low for low in before if low >= opens][-1:]])
    rights = [end, *[high for _, high in content if high > end][:RIGHT]]
    rights += [stop.start() for mark in (CLAUSE, SENTENCE) if (stop := mark.search(question, end))]
    grown = [(low, high) for low in lefts for high in dict.fromkeys(rights) if (low, high) != (start, end)]
    parts = [(low, high) for low, high in grown if question[high:].strip(" .?!") or low > 0]
    return sorted(parts, key=lambda part: part[1] - part[0])[:PARTS]


WORD = re.compile(r"[^\W_]+(?:[.'’/-][^\W_]+)*")
CLAUSE = re.compile(r"[.?!;:,–—](?=\s|$)|$")
SENTENCE = re.compile(r"[.?!](?=\s|$)|$")


def _windows(corpus: Corpus, bucket: Bucket, text: str, question: str) -> list[tuple[int, int]]:
    return near_windows(
        text, question, language=bucket.language, similar=similarity_to(corpus.lines, question), limit=WINDOWS
    )


def _asked(finder: Finder, question: str, text: str, windows: Sequence[tuple[int, int]]) -> Passage:
    """Return what the finder takes for the answer in some windows of a text, with its log-odds."""
    read = finder.find(question, [text[low:high] for low, high in windows])
    found = [(low, span) for (low, _), span in zip(windows, read, strict=True)]
    if not found:
        return Passage(0, 0, "", float("-inf"))
    low, best = max(found, key=lambda item: item[1].logit)
    start, end = low + best.start, low + best.end
    return Passage(start, end, text[start:end], best.logit)


async def arrivals(corpus: Corpus, state: State, chain: Chain) -> list[Step]:
    """Return each step of a chain with the documents of the evidence that hold its name as its last hop."""
    evidence = state.get("evidence", [])
    chunks = await hydrate(corpus, evidence)
    found: list[Step] = []
    for step in chain["steps"]:
        been = {hop["doc"] for hop in step["hops"]}
        holding = [
            item["doc"]
            for item in evidence
            if item["doc"] not in been
            and (chunk := chunks.get(item["id"]))
            and _all_said(step["name"], f"{chunk.title} {chunk.text}")
        ]
        documents = [await asyncio.to_thread(corpus.documents.get, one) for one in dict.fromkeys(holding)]
        read = [await as_searched(corpus, one) for one in documents if one]
        found += await asyncio.to_thread(_arrivals, corpus, read, step, state["question"], chain["lacking"])
    return found


def _is_of(name: str, own: str) -> bool:
    """Tell whether a name is most of what a document is called: the rest tells it from others of the name."""
    told, called = set(content_words(name)), set(content_words(own))
    return told <= called and 2 * len(told) >= len(called)


def _all_said(said: str, text: str) -> bool:
    """Tell whether a text holds each content word of what is said."""
    return not _new_words(said, text)


def _new_words(said: str, text: str) -> set[str]:
    """Return the content words of what is said that a text does not hold."""
    return set(content_words(said)) - set(words(text))


def _arrivals(
    corpus: Corpus, documents: Sequence[Document], step: Step, question: str, lacking: Sequence[str]
) -> list[Step]:
    """Return a step with each of the first documents as its last hop; what the question itself says is no answer."""
    read: list[tuple[float, Document]] = []
    for document in documents:
        bucket = corpus.buckets[document.bucket]
        values = corpus.annotations.get(document.doc_id, bucket.name) or {}
        named = any(_is_of(step["name"], own) for own in (document.title, *own_names(bucket, values)))
        states = named and any(name in values for name in lacking)
        read.append(((NAMED if named else MENTIONS) + STATES * states, document))
    if any(gain > 0 for gain, _ in read):
        read = [item for item in read if item[0] > 0]
    read.sort(key=lambda item: -item[0])
    found: list[Step] = []
    for gain, document in read[:ARRIVED]:
        hop = _arrival(corpus, document, step, gain)
        if hop and not _all_said(document.text[hop["start"] : hop["end"]], question):
            found.append({**step, "questions": [hop["question"]], "hops": [*step["hops"], hop]})
    return found


def _arrival(corpus: Corpus, document: Document, step: Step, gain: float) -> Hop | None:
    """Return the wording of the question of a step that a document answers most surely.

    A document that does not bear the name itself (its `gain`) has to answer where it speaks of it.
    """
    finder, bucket = corpus.finder, corpus.buckets[document.bucket]
    assert finder is not None, "no finder"
    text, asked = without_orders(document.text), step["questions"]
    windows = _windows(corpus, bucket, text, asked[0])
    windows = [span for span in windows if gain > 0 or _all_said(step["name"], text[slice(*span)])]
    if not windows:
        return None
    said, question = max(
        ((_asked(finder, one, text, windows), one) for one in asked), key=lambda item: item[0].score
    )
    return _hop(document, question, said, gain)


def _worth(step: Step) -> float:
    """Return how sure a chain is: the mean of the log-odds of its hops."""
    return mean(hop["margin"] for hop in step["hops"])


def _arrived(chain: Chain, step: Step) -> bool:
    """Tell whether the last document of a chain answers, and more surely than the first one did."""
    return probable(step["hops"][-1]["margin"]) >= LIKELY and _worth(step) > chain["direct"]


def _answered(step: Step) -> Decision:
    hops = step["hops"]
    said = "; ".join(f"{one['doc']} leads to {other['doc']}" for one, other in pairwise(hops))
    return enough(
        f"{said}.",
        targets=[hop["doc"] for hop in hops],
        several=len(hops),
        hops=hops,
        notes=[note("review", "leads on", f"{said}.")],
    )


async def read_hops(corpus: Corpus, plan: Plan, hops: Sequence[Hop]) -> list[Told]:
    """Return what each document of a chain says to its part of the question, the passage of the finder first."""
    read: list[Told] = []
    for hop in hops:
        told = await reading_of(corpus, plan, hop["doc"], hop["question"])
        if told is None:
            continue
        start, end = around(told.document.text, hop["start"], hop["end"], None)
        passage = Passage(start, end, told.document.text[start:end], 1.0)
        fields = told.stated if hop is hops[-1] else {}
        read.append(replace(told, stated=fields, passages=((passage, STATED),), silent=False))
    return read
