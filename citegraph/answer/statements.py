"""Sentences that code writes as the answer to a question about documents, one or several side by side."""

import asyncio
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from citegraph.answer.cells import made_number, table_of
from citegraph.answer.cited_spans import cell
from citegraph.answer.extracts import Passage
from citegraph.answer.found_spans import ABSENT, STATED
from citegraph.answer.hops import read_hops
from citegraph.answer.one_document import Told, absence, reading_of, written
from citegraph.answer.series import summed
from citegraph.answer.told_apart import apart_from
from citegraph.citations.facts import Fact, hard_facts
from citegraph.citations.quotations import quotable
from citegraph.citations.report_types import Derivation
from citegraph.corpus.schema.document import Chunk
from citegraph.encoder.multilingual import asked_runs, intent_of
from citegraph.language.amounts import Money, number_text
from citegraph.language.claim_tokens import content_stems
from citegraph.language.terms import content_words
from citegraph.plan.stored_filters import printed, with_part
from citegraph.question.clauses import read_question
from citegraph.question.functions import function_of
from citegraph.question.measures import plain
from citegraph.question.phrases import wants
from citegraph.question.sides import JOIN
from citegraph.run.context import Context
from citegraph.run.services import Corpus
from citegraph.run.state import State
from citegraph.run.state_types import AskedBack, CitedSpan, Draft, Plan, TableRows, Through

Side = tuple[str, Told | None]
"""The label of a side with what its document says, None where no document was found."""
SAME = 0.5
"""Share of their words from which two passages say the same thing."""
LOOKED_AT = 5
"""Passages of each side that are held against those of the other."""
ALIKE, COMMENSURABLE = 2.0, 1.0
"""Logits that two passages gain by the same words, and by one value of the same dimension in each."""


async def read_sides(
    corpus: Corpus, plan: Plan, targets: Sequence[str], question: str, context: Context
) -> list[tuple[str, list[Side]]]:
    """Return each thing that is compared, "" for all that is asked, with what each side's document of `targets` says of it.

    Documents are asked for the words that name what is wanted, each by itself, where these find it more surely than the
    whole question does: how it asks ("which of the two is higher, and what are both?") is of no document.
    """
    if several := several_wanted(question):
        return [(want, await _read_by(corpus, plan, targets, want, context)) for want in several]
    whole = await _read_by(corpus, plan, targets)
    if all(told is not None and told.stated for _, told in whole):
        return [("", whole)]
    wanted = [
        words for span in asked_runs(question) if (words := " ".join(content_words(question[slice(*span)])))
    ]
    read = [await _read_by(corpus, plan, targets, words) for words in wanted[:MOST_WANTED]]
    return [("", sides) for sides in read if _sureness(sides) >= _sureness(whole)] or [("", whole)]


def several_wanted(question: str) -> list[str]:
    """Return the things that a question enumerates as wanted ("term, rent and deposit"), [] where it names but one."""
    chains: list[tuple[int, int]] = []
    for first, end in asked_runs(question):
        start = next(at for at in range(first, -1, -1) if at == 0 or not question[at - 1].isalnum())
        joined_on = chains and not JOIN.sub("", question[chains[-1][1] : start]).strip()
        chains[-1:] = [(chains[-1][0], end)] if joined_on else [*chains[-1:], (start, end)]
    parts = [[part.strip() for part in JOIN.split(question[slice(*chain)])] for chain in chains]
    best = max(([one for one in said if content_words(one)] for said in parts), key=len, default=[])
    return best if len(best) > 1 else []


async def _read_by(
    corpus: Corpus, plan: Plan, targets: Sequence[str], wanted: str = "", apart: Context | None = None
) -> list[Side]:
    """Return what the document of each side says to words that name what is wanted, to the side's whole question without any.

    Args:
        apart: the run in which what is wanted is one of several: then only its own field is asked for.
    """
    read: list[Side] = []
    for side, doc_id in zip(plan["sides"], targets, strict=False):
        own: Plan = {**plan, "per_bucket": side["per_bucket"], "only": side["only"]}
        label = side["label"].strip(" ,.:")
        for name in own["per_bucket"]:
            if apart is not None:
                bucket = corpus.buckets[name]
                part = await asyncio.to_thread(read_question, bucket, corpus.linker, wanted, apart.now)
                own = with_part(own, name, asked=part["asked"])
        told = (
            await reading_of(corpus, own, doc_id, f"{label}: {wanted}" if wanted else side["question"])
            if doc_id
            else None
        )
        read.append((label, told))
    return read


MOST_WANTED = 3
"""Things that are compared at most, where they are not enumerated."""


def side_by_side(read: Sequence[tuple[str, Sequence[Side]]], question: str) -> TableRows:
    """Return a comparison as a table: a row for each side, a column for each thing that is compared."""
    asked = " ".join(question[slice(*span)].strip() for span in asked_runs(question)) or question
    rows = [
        [label, *(_said_in_cell(sides[at][1]) for _, sides in read)]
        for at, (label, _) in enumerate(read[0][1])
    ]
    documents = [told.document.doc_id if told else "" for _, told in read[0][1]]
    return table_of(["", *(want or asked for want, _ in read)], rows, documents, str)


def _said_in_cell(told: Told | None) -> str:
    """Return what a document says in the words of its statement."""
    if told is None or told.silent:
        return NOT_FOUND
    if told.stated:
        return "; ".join(cell(value) for value in told.stated.values())
    return quotable(told.passages[0][0].text)


NOT_FOUND = "not found"


def _sureness(sides: Sequence[Side]) -> float:
    """Return the logit that all sides are answered, summed over those that no field answers."""
    return sum(
        told.passages[0][1] if told.passages else -math.inf
        for _, told in sides
        if told is not None and not told.stated
    )


def compared(sides: Sequence[Side], want: str = "") -> list[Draft]:
    """Return a draft for each side under its label, then one for the difference of two values; blocking.

    Args:
        want: what of several things is compared.

    Two passages that say the same thing with a value each are preferred to the likeliest one of either side.
    """
    read = [told for _, told in sides if told is not None]
    apart = len({told.document.doc_id for told in read}) == len(read)
    pair: tuple[Fact, Fact] | None = None
    if len(read) == len(sides) == 2 and apart and not read[0].stated and not read[1].stated:
        first, second = alike(read[0], read[1])
        sides = [(label, told) for (label, _), told in zip(sides, (first, second), strict=True)]
        pair = values_of(first, second)
    drafts = [said(label, told, want) for label, told in sides]
    difference = None
    if len(read) == 2 and apart:
        difference = of_fields(*read) or (of_passages(pair, *read) if pair else None)
    return [*drafts, difference] if difference else drafts


def said(label: str, told: Told | None, want: str = "") -> Draft:
    """Return the draft of one side; each of its lines begins with the label. `want` is what of several things it says."""
    if told is None:
        missing = f"{label}: no document was found."
        return {"text": missing, "cited": [], "unanswerable": True, "partial": missing}
    kept = told.passages[:1] if not told.stated or (told.sure and not want) else ()
    draft = written(replace(told, title=want or told.title, passages=kept))
    lines = "\n".join(f"{label}: {line}" for line in draft["text"].splitlines())
    draft = {**draft, "text": lines}
    if not draft.get("unanswerable"):
        return draft
    unsaid = (
        f"{label}: {want}: not found in the document." if want else f"{label}: not found in the document."
    )
    return {**draft, "partial": unsaid, "absent": [absence(lines.splitlines()[0], told)]}


def alike(one: Told, other: Told) -> tuple[Told, Told]:
    """Return both readings with the two passages first that answer best together."""
    best = max(
        (
            (
                a[1] + b[1] + ALIKE * _words_in_common(a[0], b[0]) + COMMENSURABLE * bool(_pair(a[0], b[0])),
                -place,
                (a, b),
            )
            for place, (a, b) in enumerate(_pairs(one, other))
        ),
        default=None,
    )
    if best is None:
        return one, other
    a, b = best[2]
    if _pair(a[0], b[0]) and _words_in_common(a[0], b[0]) >= SAME:
        # Two documents that say a thing in the same words, each with its value, back each other.
        a, b = (a[0], max(a[1], STATED)), (b[0], max(b[1], STATED))
    return _with_first(one, a), _with_first(other, b)


def values_of(one: Told, other: Told) -> tuple[Fact, Fact] | None:
    """Return the only values that the first passages of two readings hold, of one dimension and both surely enough.

    Beside a condition ("5 x 10^10 Ω at 60 % RH") it is open which of the values is asked for.
    """
    if one.silent or other.silent or not (one.sure and other.sure):
        return None
    first, second = one.passages[0][0], other.passages[0][0]
    alone = all(len(_single(passage.text)) == 1 for passage in (first, second))
    return _pair(first, second) if alone else None


def of_fields(one: Told, other: Told) -> Draft | None:
    """Return the line that subtracts the amounts of the first field that both state, None without one."""
    for name, value in one.stated.items():
        rival = other.stated.get(name)
        if isinstance(value, Money) and isinstance(rival, Money) and value.currency == rival.currency:
            what = f"Difference in {name.replace('_', ' ')}"
            return difference_of(
                what, (value.amount, rival.amount), value.currency or "", (one, other), amounts=True
            )
    return None


def of_passages(pair: tuple[Fact, Fact], one: Told, other: Told) -> Draft | None:
    """Return the line that subtracts the values of two passages, None when their units differ."""
    units = [_unit(fact) for fact in pair]
    as_printed = units[0] == units[1]
    if not as_printed and any(fact.raw[:1] != fact.amounts[:1] for fact in pair):
        return None
    values = (pair[0].raw[0], pair[1].raw[0]) if as_printed else (pair[0].amounts[0], pair[1].amounts[0])
    return difference_of("Difference", values, min(units, key=len), (one, other))


def difference_of(
    what: str,
    values: tuple[Decimal, Decimal],
    unit: str,
    read: tuple[Told, Told],
    *,
    amounts: bool = False,
) -> Draft:
    """Return the line of a difference with how it was computed; `amounts` of money have two decimals."""
    high, low = max(values), min(values)
    # Two decimals are for amounts: 0.005 V less 0.002 V is not 0.00 V.
    number = number_text(high - low) if amounts else f"{high - low:,f}"
    ids = [told.document.doc_id for told in read]
    made = made_number(number, "difference", f"{high} - {low}", [f"{high}", f"{low}"], ids, unit)
    text = f"{what}: {number} {unit} ".replace("  ", " ") + f"[{ids[0]}] [{ids[1]}]."
    return {"text": text, "cited": [], "derivations": [made], "unanswerable": False}


def _pairs(one: Told, other: Told) -> Iterator[tuple[tuple[Passage, float], tuple[Passage, float]]]:
    for a in one.passages[:LOOKED_AT]:
        for b in other.passages[:LOOKED_AT]:
            if min(a[1], b[1]) >= ABSENT:
                yield a, b


def _with_first(told: Told, first: tuple[Passage, float]) -> Told:
    rest = tuple(item for item in told.passages if item[0] != first[0])
    return replace(told, passages=(first, *rest))


def _words_in_common(one: Passage, other: Passage) -> float:
    """Return the share of their words that two passages have in common, 0 to 1."""
    mine, theirs = set(content_stems(one.text)), set(content_stems(other.text))
    return len(mine & theirs) / max(1, len(mine | theirs))


def _pair(one: Passage, other: Passage) -> tuple[Fact, Fact] | None:
    """Return the values of the one dimension of which two passages hold a single value each, None without one."""
    mine, theirs = _single(one.text), _single(other.text)
    common = [dimension for dimension in mine if dimension in theirs]
    return (mine[common[0]], theirs[common[0]]) if len(common) == 1 else None


def _single(text: str) -> dict[str, Fact]:
    """Return the value of each dimension of which a text holds only one, printed once or spelled out beside it."""
    found: dict[str, list[Fact]] = {}
    for fact in hard_facts(text):
        if fact.kind == "number" and fact.dimension and fact.amounts and fact.raw:
            found.setdefault(fact.dimension, []).append(fact)
    return {
        dimension: facts[-1]
        for dimension, facts in found.items()
        if len({fact.amounts[0] for fact in facts}) == 1
    }


def _unit(fact: Fact) -> str:
    """Return the unit of a value as it is printed."""
    return re.sub(r"[\d.,'’()<>≤≥±\s-]+", " ", fact.text).strip()


def nothing_text(plan: Plan, clarifications: Sequence[AskedBack]) -> Draft:
    """Return the draft of an answer that found nothing, with what was tried."""
    tried = ", ".join(printed(clause) for part in plan["per_bucket"].values() for clause in part["filters"])
    asked = (
        " Nothing else was said when asked." if any(item.get("declined") for item in clarifications) else ""
    )
    where = ", ".join(plan["buckets"])
    what = f" with {tried}" if tried else " about that"
    return {
        "text": f"I found no document in {where}{what}".rstrip(".") + f".{asked}",
        "unanswerable": True,
    }


async def compose_passages(
    corpus: Corpus, state: State, context: Context, seen: Iterable[Chunk] = ()
) -> Draft:
    """Return the draft for a fact, a comparison or a summary: values and extracts of the target documents.

    Args:
        seen: passages as a model was shown them, whose answer did not hold.
    """
    plan, decision = state["plan"], state.get("decision", {})
    targets = [doc_id for doc_id in decision.get("targets", []) if doc_id]
    through = decision.get("through")
    if plan.get("only") and not through:
        targets = list(plan["only"])
    if not targets:
        targets = list(dict.fromkeys(reference["doc"] for reference in state.get("evidence", [])))[:1]
    if plan.get("sides"):
        read = await read_sides(corpus, plan, decision.get("targets", []), state["question"], context)
        drafts = [draft for want, sides in read for draft in await asyncio.to_thread(compared, sides, want)]
        made = joined([draft for at, draft in enumerate(drafts) if draft not in drafts[:at]], every=True)
        as_table = state["decomposition"].get("format") == "table"
        return {**made, "table": side_by_side(read, state["question"])} if as_table else made
    several = (
        decision.get("several") or len(plan.get("only") or ()) or (1 if plan["intent"] != "compare" else 2)
    )
    plan = plan | {"silent": decision.get("silent", False)}
    if hops := decision.get("hops"):
        return joined([written(one) for one in await read_hops(corpus, plan, hops)])
    parts: list[Draft] = []
    if through:
        parts, targets = [await leading(corpus, through)], targets[1:]
        plan = apart_from(plan, through, targets)
    for doc_id in targets[:several]:
        if through:
            told = await reading_of(corpus, plan, doc_id, state["question"], seen)
            parts += [written(told)] if told else []
        else:
            parts += await read_wants(corpus, plan, doc_id, state["question"], context, seen)
    if decision.get("weak"):  # few words in common: only what surely answers is said
        parts = [part for part in parts if not (part.get("partial") or part.get("unanswerable"))]
    return joined(parts) if parts else nothing_text(plan, state.get("clarifications") or [])


async def read_wants(
    corpus: Corpus, plan: Plan, doc_id: str, question: str, context: Context, seen: Iterable[Chunk]
) -> list[Draft]:
    """Return what a document says to a question, or to each of the several things that it asks; [] when it is gone."""
    whole = await reading_of(corpus, plan, doc_id, question, seen)
    if (
        whole
        and not (whole.stated or whole.silent)
        and "sum" in {function_of(plain(question)), intent_of(question)}
    ):
        language = corpus.buckets[whole.document.bucket].language
        if added := summed(whole, question, language):
            return [added]
    several = wants(question) if plan["intent"] == "qa" else []
    if whole is None or len(several) < 2:
        return [written(whole)] if whole else []
    name = whole.document.bucket
    drafts: list[Draft] = []
    lost: list[str] = []
    for want in several[:MOST_WANTED]:
        read = await asyncio.to_thread(read_question, corpus.buckets[name], corpus.linker, want, context.now)
        own = with_part(plan, name, asked=read["asked"])
        told = await reading_of(corpus, own, doc_id, want, seen)
        draft = written(told) if told else None
        if draft is None or draft.get("unanswerable"):
            lost.append(want)
        elif draft not in drafts:
            drafts.append(draft)
    if not drafts:
        return [written(whole)]
    unsaid = f"not found in the document: {'; '.join(lost)}"
    return [*drafts[:-1], {**drafts[-1], "partial": unsaid}] if lost else drafts


async def leading(corpus: Corpus, through: Through) -> Draft:
    """Return the draft that says what in one document leads to the next: the value that both have, or the line with its name."""
    document = await asyncio.to_thread(corpus.documents.get, through["doc"])
    text = document.text[through["start"] : through["end"]] if document else ""
    label = through.get("field", "").replace("_", " ").capitalize()
    said = f"{label}: {through['value']}" if label else f"“{quotable(text)}”"
    cited: CitedSpan = {"doc": through["doc"], "start": through["start"], "end": through["end"]}
    return {"text": f"{said} [{through['doc']}].", "cited": [cited], "unanswerable": False}


def joined(parts: Sequence[Draft], *, every: bool = False) -> Draft:
    """Return several drafts as one; unanswerable only when each of them is.

    Args:
        every: documents that do not state it are said too, as the sides of a comparison are; else they are left out.
    """
    unanswerable = all(part.get("unanswerable") for part in parts)
    if not every and not unanswerable:
        parts = [part for part in parts if not part.get("unanswerable")]
    made: Draft = {
        "text": "\n".join(part["text"] for part in parts),
        "documents": [],
        "cited": [span for part in parts for span in part["cited"]],
        "unanswerable": unanswerable,
    }
    if parts and "margin" in parts[-1]:
        made["margin"] = parts[-1]["margin"]
    if made_of := [item for part in parts for item in part.get("derivations", [])]:
        made["derivations"] = made_of
    if absent := [item for part in parts for item in part.get("absent", [])]:
        made["absent"] = absent
    unsure = dict.fromkeys(part["partial"] for part in parts if part.get("partial"))
    return {**made, "partial": "; ".join(unsure)} if unsure and not unanswerable else made


def derivations_of(draft: Draft) -> tuple[Derivation, ...]:
    """Return the draft's computed numbers as typed derivations."""
    return tuple(
        Derivation(
            value=item["value"],
            formula=item["formula"],
            operation=item["operation"],
            inputs=tuple(item["inputs"]),
            doc_ids=tuple(item["doc_ids"]),
            unit=item["unit"],
        )
        for item in draft.get("derivations", [])
    )
