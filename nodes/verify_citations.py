"""verify_citations: hold each claim against its cited span, repair or send back, and build the one `Answer`."""

import asyncio
import textwrap
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any, cast

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.runtime import Runtime

from citegraph.answer.absences import looked_up, silences
from citegraph.answer.after_check import (
    BACKED,
    HANDED_OVER,
    amended,
    checked_again,
    notes_of,
    nothing_holds,
    parts_pointed_at,
    remarks_on,
    rows_of_the_database,
    with_remarks,
    written,
)
from citegraph.answer.chat_text import chat_text
from citegraph.answer.cited_spans import digits_of, with_own_value
from citegraph.answer.judge_by_model import judge_cases, read_alike, rulings_of
from citegraph.answer.statements import NOT_FOUND, derivations_of
from citegraph.answer.withheld import (
    NO_EVIDENCE,
    Stretch,
    against,
    beside,
    orders_found,
    shown_stretches,
    values_against,
    values_beside,
    withheld_stretches,
)
from citegraph.citations.cases_for_judge import Rulings, key_of, objected, stated_cases, verify_undecided
from citegraph.citations.claims import find_markers
from citegraph.citations.facts import hard_facts
from citegraph.citations.prompt_injection import AFTER, unbacked, without_orders
from citegraph.citations.repair import Treatment, cite, page_pieces
from citegraph.citations.report_types import Claim, Evidence, Report, Verdict
from citegraph.citations.verify_answer import Judgement
from citegraph.corpus.schema.bucket import Bucket, show
from citegraph.corpus.schema.document import Chunk, Document
from citegraph.corpus.schema.field import Value
from citegraph.evidence.next_calls import lost_searches
from citegraph.evidence.passages import ANSWER_SHOWN, hydrate, replies_shown, search_quality
from citegraph.evidence.shown import with_unit
from citegraph.language.claim_cues import compares
from citegraph.language.terms import content_words
from citegraph.plan.stored_filters import bucket_filters, flat, printed
from citegraph.plan.turns import APPLIED, left_of
from citegraph.run.answer_types import Answer, AnswerClaim, AppliedFilter, Citation, Note, Table, Usage
from citegraph.run.budgets import llm_calls_left, seconds_left
from citegraph.run.context import Context
from citegraph.run.events import told
from citegraph.run.model_calls import Stopwatch, note, own_part, wants_model
from citegraph.run.services import Corpus, Services, corpus_of
from citegraph.run.state import State, Update, add_usage
from citegraph.run.state_types import CitedSpan, Correction, Draft, Reading, StoredNote, TableRows, Turn

AROUND = 120
"""Characters of context around a cited span that verification may look at."""
KEPT_TURNS = 6
RESTATED, QUOTED = 300, 240
"""Characters of a refused claim, and of the line that it was held against, that its writer is told."""


@dataclass(frozen=True)
class VerifyCitations:
    """Node: reads `draft`; writes feedback for one more compose, or `answer`, `turns` and the chat reply."""

    services: Services

    async def __call__(self, state: State, runtime: Runtime[Context]) -> Update:
        """Verify the draft, then correct or finish; a text that changes is told."""
        update = await self.decide(state, runtime.context or Context())
        return told(self.with_reply(update, state), state, runtime.stream_writer)

    def with_reply(self, update: Update, state: State) -> Update:
        """Return an update that ends the run with its chat message."""
        return with_reply(update, state, self.services.settings.public_url or "")

    async def decide(self, state: State, context: Context) -> Update:
        """Return what becomes of the draft: feedback for compose, or the answer."""
        watch = Stopwatch("verify_citations")
        draft = state.get("draft", {})
        if not state.get("gate", {}).get("retrieve", True):
            return finish(
                state, draft["text"], status="failed" if draft.get("failed") else "answered", watch=watch
            )
        if said := state.get("decision", {}).get(
            "left_open"
        ):  # nothing was looked up, and nothing is claimed
            return finish(state, said, status="unanswerable", watch=watch)
        lost = lost_searches(state)
        if lost and (context.strict_search or state.get("decision", {}).get("empty")):
            return finish(
                state, f"The search failed: {'; '.join(dict.fromkeys(lost))}.", status="failed", watch=watch
            )
        if out_of_time(state) and not draft.get("cited"):
            text = (
                "The time of this run was spent before anything was found; nothing was searched to the end."
            )
            return finish(state, text, status="partial", watch=watch)
        corpus = corpus_of(await self.services.corpus(), state.get("plan", {}))
        chunks = await hydrate(corpus, state.get("evidence", []))
        if doubt := draft.get("doubt"):  # what is said of an answer is no statement of it
            draft = {**draft, "text": draft["text"].removeprefix(f"{doubt}\n")}
            state = cast(State, {**state, "draft": draft})
        if written(draft):
            held = [chunk.doc_id for chunk in chunks.values()]
            draft = await asyncio.to_thread(looked_up, corpus, draft, held, state.get("question", ""))
            state = cast(State, {**state, "draft": draft})
        evidence, documents = await asyncio.to_thread(gather_evidence, corpus, state, chunks)
        seen = chunks.values() if written(draft) or draft.get("unverifiable") else ()
        withheld = bool(seen) or any(item.blanked for item in evidence)
        parts = await asyncio.to_thread(withheld_stretches, evidence, seen) if withheld else []
        shown = await asyncio.to_thread(shown_stretches, seen) if seen else []
        checked = await self.check(state, context, evidence)
        checked = replace(checked, documents=documents, withheld=parts, shown=shown)
        feedback = correction(checked.report)
        if feedback and may_correct(charged(state, checked.update), context, draft):
            usage = checked.update.get("usage", {}) | watch.update()
            notes = [*checked.update.get("notes", []), CORRECTED]
            return {**send_back(state, feedback, checked), "notes": notes, "usage": usage}
        if nothing_holds(draft, checked.report):
            usage = add_usage(checked.update.get("usage", {}), {"fallbacks": 1, **watch.update()})
            notes = [*checked.update.get("notes", []), HANDED_OVER]
            given_up: Draft = draft | {"unverifiable": True, "feedback": HANDED_OVER["message"]}
            return {"draft": given_up, "notes": notes, "usage": usage}
        ended = charged(state, checked.update)
        update = await asyncio.to_thread(conclude, corpus, ended, checked, context.unsupported, watch)
        return {**update, "usage": checked.update.get("usage", {}) | update["usage"]}

    async def check(self, state: State, context: Context, evidence: Sequence[Evidence]) -> "Checked":
        """Return the report on the draft; a model of step `verify` rules on claims that a model wrote and
        whose values stand, unless it has failed before in this run, once on each claim with what it cites. A verifier of
        the user's own stands in its place, and may object to any claim that rests on a passage.
        """
        draft = state["draft"]
        derivations = derivations_of(draft)
        question = state.get("question", "")
        pointed = parts_pointed_at(draft)
        absent = silences(draft) if draft.get("absent") else []
        report, cases = await asyncio.to_thread(
            verify_undecided, draft["text"], evidence, derivations, question, absent, pointed
        )
        part = None if rows_of_the_database(draft) else own_part(self.services, "verifier", state)
        if part is not None:
            stated = stated_cases(report, evidence)
            open_cases = cases if written(draft) else []
            asked = list(dict.fromkeys([*stated, *open_cases]))
            rulings, update = await rulings_of(self.services, part, asked, state, context)
            judge = Rulings({case: rulings[case] for case in open_cases if case in rulings})
            report = await asyncio.to_thread(checked_again, draft["text"], draft, evidence, judge, question)
            report = unbacked(objected(report, evidence, rulings), evidence)
            return Checked(report, evidence, judge, update)
        gave_up = any(item["step"] == "verify" for item in state.get("notes", []))
        asks = draft.get("by") == "model" and not gave_up
        ruled = ruled_before(state)
        rulings = {case: ruled[key] for case in cases if (key := key_of(case)) in ruled}
        cases, update = [case for case in cases if case not in rulings], Update()
        asks = asks and bool(cases) and wants_model(self.services, "verify", state, context)
        plan, finder = state.get("plan", {}), (await self.services.corpus()).finder if asks else None
        if (
            finder is not None
            and plan.get("intent") == "qa"
            and not (plan.get("sides") or draft.get("absent"))
        ):
            asks = not await asyncio.to_thread(read_alike, finder, question, report, evidence)
        if asks:
            fresh, update = await judge_cases(self.services, cases, state, context, evidence)
            rulings |= fresh
        if not rulings:
            return Checked(unbacked(report, evidence), evidence, update=update)
        judge = Rulings(rulings)
        report = await asyncio.to_thread(checked_again, draft["text"], draft, evidence, judge, question)
        return Checked(report, evidence, judge, update)

    async def twin(self, state: State, context: Context) -> Update:
        """Finish without verification: nothing is stated that was not checked, so only the failure is."""
        text = "The answer could not be verified, so it is not shown. Ask again, or look at the listed documents."
        return self.with_reply(
            finish(state, text, status="failed", watch=Stopwatch("verify_citations")), state
        )


@dataclass(frozen=True)
class Checked:
    """A verified draft: the report, what it was held against, the model's rulings and what they cost.

    `withheld` is the text of documents that was no evidence, `shown` the passages that a model saw, without it.
    """

    report: Report
    evidence: Sequence[Evidence]
    judge: Rulings | None = None
    update: Update = field(default_factory=Update)
    documents: Mapping[str, Document] = field(default_factory=dict)
    withheld: Sequence[Stretch] = ()
    shown: Sequence[Stretch] = ()


CORRECTED = note(
    "verify_citations",
    "correction",
    "An answer had claims that its sources do not support and was written again.",
)


def charged(state: State, update: Update) -> State:
    """Return the state as it is once the calls and notes of the judge are counted."""
    charged_to: dict[str, Any] = dict(state)
    charged_to["usage"] = add_usage(state.get("usage", {}), update.get("usage", {}))
    charged_to["notes"] = [*state.get("notes", []), *update.get("notes", [])]
    return cast(State, charged_to)


def send_back(state: State, feedback: str, checked: Checked) -> Update:
    """Return the update that lets compose write again; what was rejected, and why, and what a model ruled is kept in
    `corrections`.
    """
    draft, report = state["draft"], checked.report
    rejected: Correction = {"text": draft["text"], "feedback": feedback, "claims": len(report.claims)}
    if checked.judge is not None:
        rejected["ruled"] = {
            key_of(case): [said.verdict, said.reason] for case, said in checked.judge.given.items()
        }
    places = [[claim.start, claim.end] for claim in refused(report)]
    return {
        "draft": draft | {"feedback": feedback, "refused": places},
        "corrections": [*state.get("corrections", []), rejected],
    }


def ruled_before(state: State) -> dict[str, Judgement]:
    """Return what a model ruled on the claims of drafts that were sent back, by the key of each case.

    A claim that stayed as it was is no new question: the same one asked again costs a call and may be answered otherwise.
    """
    kept = [item.get("ruled", {}) for item in state.get("corrections", [])]
    return {key: Judgement(cast(Verdict, said[0]), said[1]) for ruled in kept for key, said in ruled.items()}


def out_of_time(state: State) -> bool:
    """Tell whether a search of this run was cut off by the deadline."""
    return any(item["step"] == "search" and item["kind"] == "out of time" for item in state.get("notes", []))


def may_correct(state: State, context: Context, draft: Draft) -> bool:
    """Tell whether a written answer goes back once more; the twin would write the same again."""
    left = len(state.get("corrections", [])) < context.max_corrections
    affordable = draft.get("by") == "own" or llm_calls_left(state, context) > 0
    return written(draft) and left and affordable and seconds_left(state) > 0


def correction(report: Report) -> str:
    """Return what is wrong with the claims, a numbered line each with the passage that it was held against, "" when all are
    backed.
    """
    return "\n".join(
        f"{number}. “{textwrap.shorten(claim.text, RESTATED, placeholder=' …')}”: {claim.reason}{held_against(claim)}{apart(claim)}"
        for number, claim in enumerate(refused(report), 1)
    )


def refused(report: Report) -> list[Claim]:
    """Return the claims that go back to whoever wrote them."""
    return [claim for claim in report.claims if claim.verdict in {"unsupported", "contradicted"}]


def held_against(claim: Claim) -> str:
    """Return the line of a document that decided a verdict, with its id, "" when there is none."""
    line = textwrap.shorten(claim.quote, QUOTED, placeholder=" …")
    return f"; [{claim.doc_id}] says “{line}”" if line else ""


def apart(claim: Claim) -> str:
    """Return the advice on a claim about absence, or over several documents, that fell; "" for any other."""
    if claim.absence:
        return "; if so, say what; if it states something else, say the same again"
    if len(set(claim.markers)) < 2:
        return ""
    if compares(claim.text):
        return "; a comparison has each side's name and value in one sentence, with both markers"
    return "; give what each document says a sentence of its own"


def gather_evidence(
    corpus: Corpus, state: State, chunks: dict[str, Chunk]
) -> tuple[list[Evidence], dict[str, Document]]:
    """Return every span that the draft may cite, its own cited spans before the retrieved chunks, and the documents
    that hold them, by id; blocking.
    """
    draft = state.get("draft", {})
    own = [*draft.get("cited", []), *draft.get("found", [])]
    spans = [(item["doc"], item["start"], item["end"]) for item in own]
    spans += [(chunk.doc_id, chunk.start, chunk.end) for chunk in chunks.values()]
    read = corpus.documents.all_of(span[0] for span in spans)
    documents = {doc_id: read[doc_id] for doc_id, _, _ in spans if doc_id in read}
    values = known_values(corpus, list(documents.values()))
    evidence: dict[tuple[str, int, int], Evidence] = {}
    for place, (doc_id, start, end) in enumerate(spans):
        document = documents.get(doc_id)
        if document is None:
            continue
        wide = place < len(own)
        begin, stop = with_surroundings(document.text, start, end) if wide else (start, end)
        known = values.get(doc_id, {})
        made = as_evidence(document, begin, stop, known, corpus.buckets.get(document.bucket))
        evidence.setdefault((doc_id, begin, stop), made)
    return list(evidence.values()), documents


def with_surroundings(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a span with some `AROUND` characters before and after it, to the ends of their lines.

    Of a long line it ends between two words: half a number is another number.
    """
    begin, stop = max(0, start - AROUND), min(len(text), end + AROUND)
    least, most = max(0, begin - AROUND), min(len(text), stop + AROUND)
    before = max(text.rfind(mark, least, begin) for mark in "\n\f") + 1
    if before or not least:
        begin = before
    while 0 < begin < start and not text[begin - 1].isspace():
        begin += 1
    after = [place for mark in "\n\f" if (place := text.find(mark, stop, most)) >= 0]
    if after or most == len(text):
        stop = min(after, default=most)
    while end < stop < len(text) and not text[stop].isspace():
        stop -= 1
    return begin, stop


def known_values(corpus: Corpus, documents: Sequence[Document]) -> dict[str, dict[str, Value]]:
    """Return the annotations of some documents, by id; blocking."""
    found: dict[str, dict[str, Value]] = {}
    for bucket in dict.fromkeys(document.bucket for document in documents):
        doc_ids = [document.doc_id for document in documents if document.bucket == bucket]
        found |= corpus.annotations.values_of(bucket, doc_ids)
    return found


def as_evidence(
    document: Document, start: int, end: int, values: Mapping[str, Value], bucket: Bucket | None = None
) -> Evidence:
    """Return a span of a document with its pages and the values known of the document, bare numbers in the unit of their field."""
    pages = [page for page in document.pages if page.end > start and page.start < end]
    before = max(0, start - AFTER)
    text = without_orders(document.text[before:end])[start - before :]
    # A document may bear its own number in its file's name alone ("NOTICE-2021-0015.md"); an amount or a day in a name
    # ("offer 900 EUR.pdf") is nothing that the document states.
    named = hard_facts(PurePath(document.source_file).stem)[:1]
    codes = [("file", fact.text) for fact in named if fact.kind == "identifier"]
    said = {name: show(value) for name, value in values.items()}
    facts = [
        *codes,
        *((name, with_unit(bucket, name, text) if bucket else text) for name, text in said.items()),
    ]
    return Evidence(
        evidence_id=f"{document.doc_id}:{start}",
        doc_id=document.doc_id,
        text=text,
        start=start,
        page=pages[0].number if pages else None,
        page_breaks=tuple((page.start, page.number) for page in pages[1:]),
        facts=tuple((name, without_orders(shown)) for name, shown in facts),
        blanked="" if text == document.text[start:end] else document.text[start:end],
        called=tuple(without_orders(name) for name in called_by(document)),
        cut=(bool(document.text[:start].strip()), bool(document.text[end:].strip())),
    )


def called_by(document: Document) -> list[str]:
    """Return the names by which a document goes: its file as prompts show it, the same without folders and ending, its title."""
    path = PurePath(document.source_file)
    names = [document.source_file, path.name, path.stem, document.title]
    return [name for name in dict.fromkeys(names) if name.strip()]


def conclude(
    corpus: Corpus, state: State, checked: Checked, treatment: Treatment, watch: Stopwatch
) -> Update:
    """Repair what is left, resolve the citations for people and build the final update; blocking."""
    draft, evidence = state["draft"], checked.evidence
    text, lines, report = amended(
        draft,
        checked.report,
        evidence,
        checked.judge,
        treatment=treatment,
        question=state.get("question", ""),
    )
    if state.get("plan", {}).get("sides") and draft.get("by") == "rules" and len(text) < len(draft["text"]):
        draft = {**draft, "partial": "; ".join(filter(None, [draft.get("partial"), TAKEN_OUT]))}
    claims = [with_own_value(claim, draft.get("cited", []), checked.documents) for claim in report.claims]
    operands = operands_of(claims, draft.get("operands", []), checked.documents)
    citations, places = resolve_all(
        checked.documents, text, claims, evidence, draft.get("cited", []), operands
    )
    nothing = not any(claim.verdict in BACKED for claim in claims)
    unanswerable = bool(draft.get("unanswerable")) or (nothing and not draft.get("documents"))
    if not text.strip():
        text = "No statement of the answer could be verified against the documents."
    status = (
        "unanswerable"
        if unanswerable
        else "partial"
        if draft.get("partial") or lost_searches(state) or out_of_time(state)
        else "answered"
    )
    notes = [note("verify_citations", "repaired", line) for line in lines]
    notes += orders_found(checked.withheld) if checked.withheld else []
    if draft.get("partial"):
        notes.append(note("compose", "partial", str(draft["partial"])))
    remarks = remarks_on(corpus, state.get("plan", {}), draft, text)
    stated = [
        answer_claim(claim, places, draft.get("cited", []), operands.get(claim.start, [])) for claim in claims
    ]
    citations, stated = with_remarks(remarks, citations, stated)
    for value, said, remark in values_otherwise(corpus, state, stated, citations, checked):
        if citation := resolve(checked.documents.get(value.doc_id), value.start, value.end, ""):
            start = len(text) + 1
            text += f"\n{said.removesuffix('.')} [{value.doc_id}]."
            told = AnswerClaim(text=said, start=start, end=len(text), verdict="supported", reason=remark)
            stated.append(told.model_copy(update={"citations": [len(citations)]}))
            citations.append(citation.model_copy(update={"remark": remark}))
    if doubt := draft.get("doubt"):
        text, on = f"{doubt}\n{text}", len(doubt) + 1
        stated = [one.model_copy(update={"start": one.start + on, "end": one.end + on}) for one in stated]
    return finish(
        state,
        text,
        status=status,
        watch=watch,
        claims=stated,
        citations=citations,
        report=report,
        filters=applied_filters(corpus, state),
        notes=[*notes, *notes_of(remarks)],
    )


def values_otherwise(
    corpus: Corpus,
    state: State,
    stated: Sequence[AnswerClaim],
    citations: Sequence[Citation],
    checked: Checked,
) -> list[tuple[Stretch, str, str]]:
    """Return the values that stand against the answer to a question of fact, withheld ones first, each with the sentence
    and the remark that say so; blocking.
    """
    plan, finder, question = state.get("plan", {}), corpus.finder, state.get("question", "")
    if finder is None or plan.get("intent") != "qa" or plan.get("sides"):
        return []
    backed = [claim for claim in stated if claim.verdict in BACKED]
    said = " ".join(claim.text for claim in backed)
    cites = [citations[at] for claim in backed for at in claim.citations]
    docs = {one.doc_id for one in cites}
    hidden = values_against(finder, question, said, checked.withheld, docs) if checked.withheld else []
    found = [(value, against(value), NO_EVIDENCE) for value in hidden]
    if checked.shown and all(
        claim.verdict == "supported" for claim in backed
    ):  # a computed number stands in no line
        cited = [(one.doc_id, one.start, one.end) for one in cites]
        others = values_beside(finder, question, said, cited, checked.shown)
        found += [(value, beside(value), "") for value in others]
    return found


def operands_of(
    claims: Sequence[Claim], lines: Sequence[CitedSpan], documents: Mapping[str, Document]
) -> dict[int, list[tuple[str, int, int]]]:
    """Return by the start of each derived claim the lines of its documents that state a number of it."""
    found: dict[int, list[tuple[str, int, int]]] = {}
    for claim in claims:
        if claim.verdict != "derived":
            continue
        numbers = digits_of(claim.text)
        for line in lines:
            document = documents.get(line["doc"])
            said = digits_of(document.text[line["start"] : line["end"]]) if document else set()
            if line["doc"] in claim.markers and numbers & said:
                found.setdefault(claim.start, []).append((line["doc"], line["start"], line["end"]))
    return found


def resolve_all(
    documents: Mapping[str, Document],
    text: str,
    claims: Sequence[Claim],
    evidence: Sequence[Evidence],
    cited: Sequence[CitedSpan],
    operands: Mapping[int, Sequence[tuple[str, int, int]]] | None = None,
) -> tuple[list[Citation], dict[tuple[str, int, int], tuple[int, ...]]]:
    """Return the citations in order of the answer, and their numbers by (document, start, end).

    A span over a page break gives a citation a page. A marker whose span no verdict names resolves to the span that compose cited for that document.
    """
    spans: dict[tuple[str, int, int], str] = {}
    own = {item["doc"]: (item["start"], item["end"]) for item in reversed(cited)}
    first = {item.doc_id: (item.start, item.start + len(item.text)) for item in reversed(evidence)}
    for claim in claims:
        if (claim.verdict == "supported" or claim.absence) and (chosen := span_of(claim, cited)):
            spans.setdefault(chosen, claim.evidence_id)
        for line in (operands or {}).get(claim.start, ()):
            spans.setdefault(line, f"{line[0]}:{line[1]}")
    decided = {doc_id for doc_id, _, _ in spans}
    for marker in dict.fromkeys(name for found in find_markers(text, first) for name in found.ids):
        span = own.get(marker) or first.get(marker)
        if span and marker not in decided:
            spans[marker, *span] = f"{marker}:{span[0]}"
    citations: list[Citation] = []
    places: dict[tuple[str, int, int], tuple[int, ...]] = {}
    for (doc_id, start, end), evidence_id in spans.items():
        document = documents.get(doc_id)
        pieces = page_pieces(document, start, end) if document else [(start, end)]
        resolved = [resolve(document, *piece, evidence_id) for piece in pieces]
        found = [citation for citation in resolved if citation is not None]
        if found:
            places[doc_id, start, end] = tuple(range(len(citations), len(citations) + len(found)))
            citations += found
    return citations, places


def span_of(claim: Claim, cited: Sequence[CitedSpan]) -> tuple[str, int, int] | None:
    """Return the span that a supported claim cites: the one that compose took it from, else the verifier's.

    Several sentences of one quoted passage cite the passage. None when the verifier's quote says none of the
    claim's words, as for a value that only annotations hold.
    """
    for item in cited:
        if (
            item["doc"] == claim.doc_id
            and item["start"] <= claim.quote_start
            and claim.quote_end <= item["end"]
        ):
            return claim.doc_id, item["start"], item["end"]
    shared = claim.absence or set(content_words(claim.text)) & set(content_words(claim.quote))
    return (
        (claim.doc_id, claim.quote_start, claim.quote_end)
        if claim.doc_id and claim.quote and shared
        else None
    )


def resolve(document: Document | None, start: int, end: int, evidence_id: str) -> Citation | None:
    """Return a span as people read it, "Contract_A.pdf (page 5)"; None when the document does not hold it."""
    found = cite(document, start, end, evidence_id) if document else None
    if document is None or found is None:
        return None
    return Citation(
        marker=document.doc_id,
        doc_id=document.doc_id,
        bucket=document.bucket,
        label=str(found),
        source_file=document.source_file,
        title=found.title,
        page=found.page,
        page_label=found.page_label,
        start=start,
        end=end,
        quote=found.quote,
        evidence_id=evidence_id,
        link=found.url or "",
    )


def answer_claim(
    claim: Claim,
    places: Mapping[tuple[str, int, int], Sequence[int]],
    cited: Sequence[CitedSpan],
    operands: Sequence[tuple[str, int, int]] = (),
) -> AnswerClaim:
    """Return a claim as the answer shows it, with the numbers of its citations: its own span, of a derived one the lines of
    its operands, one a marker else.
    """
    chosen = span_of(claim, cited) if claim.verdict == "supported" or claim.absence else None
    own = places.get(chosen) if chosen else None
    numbers = [*(own or ()), *(number for line in operands for number in places.get(line, ()))]
    told = {doc_id for doc_id, _, _ in operands}
    for marker in claim.markers:
        if marker not in told and (own is None or marker != claim.doc_id):
            numbers += next((found for (doc_id, _, _), found in places.items() if doc_id == marker), ())
    return AnswerClaim(
        text=claim.text,
        start=claim.start,
        end=claim.end,
        verdict=claim.verdict,
        reason=claim.reason,
        formula=claim.formula,
        citations=numbers,
    )


def applied_filters(corpus: Corpus, state: State) -> list[AppliedFilter]:
    """Return each filter with the number of documents that match it alone."""
    plan = state.get("plan", {})
    shown = []
    for name in plan.get("buckets", []):
        for raw, typed in zip(plan["per_bucket"][name]["filters"], bucket_filters(plan, name), strict=True):
            inner = list(flat([raw]))
            first = inner[0]
            shown.append(
                AppliedFilter(
                    bucket=name,
                    field=first["field"],
                    operator=first["operator"],
                    value=[item["value"] for item in inner] if "clauses" in raw else raw["value"],
                    origin=first["origin"],
                    matched=corpus.annotations.count(name, (typed,)),
                    text=printed(raw),
                )
            )
    return shown


TAKEN_OUT = "what was found for a side did not stand the check"


def still_said(table: TableRows, text: str) -> TableRows:
    """Return the table of a comparison without what the check took out of its text."""
    rows = [
        [row[0], *(one if one == NOT_FOUND or one in text else "" for one in row[1:])]
        for row in table["rows"]
    ]
    return {**table, "rows": rows}


def finish(state: State, text: str, *, status: Any, watch: Stopwatch, **parts: Any) -> Update:
    """Return the last update of a run, but its chat message: the answer as JSON, and the turn for follow-ups."""
    draft, plan = state.get("draft", {}), state.get("plan", {})
    report: Report | None = parts.get("report")
    usage: dict[str, Any] = dict(state.get("usage", {}))
    started = usage.pop("started", time.time())
    steps = usage.pop("steps", {}) | watch.update()["steps"]
    table = draft.get("table")
    answer = Answer(
        question=state.get("question") or state.get("asked", ""),
        text=text,
        status=status,
        intent=plan.get("intent") or state.get("decomposition", {}).get("intent") or "qa",
        retrieval=state.get("gate", {}).get("retrieve", True),
        buckets=plan.get("buckets", []),
        citations=parts.get("citations", []),
        claims=parts.get("claims", []),
        documents=draft.get("documents", []),
        matched=draft.get("matched"),
        table=Table(**(still_said(table, text) if plan.get("sides") else table)) if table else None,
        filters=parts.get("filters", []),
        notes=[Note(**item) for item in unique([*state.get("notes", []), *parts.get("notes", [])])],
        search_quality=search_quality(state),
        citation_precision=round(report.precision, 4) if report else None,
        citation_recall=round(report.recall, 4) if report else None,
        confidence=draft.get("confidence"),
        usage=Usage(**usage, seconds=round(time.time() - started, 4), steps=steps),
    )
    told = [*dict.fromkeys(item.bucket for item in answer.citations if item.bucket in answer.buckets)]
    turn: Turn = {
        "asked": state.get("asked", ""),
        "question": answer.question,
        "answer": text[: 2 * ANSWER_SHOWN],
        "replies": replies_shown(state),
        "buckets": told if plan.get("kind") == "passages" and told == answer.buckets[:1] else answer.buckets,
        "applied": {
            name: cast(Reading, {key: value for key, value in part.items() if key in APPLIED})
            for name, part in plan.get("per_bucket", {}).items()
        },
        "left": left_of(plan, draft, by_texts=bool(state.get("decision", {}).get("spans"))),
    }
    update: Update = {
        "answer": answer.model_dump(mode="json"),
        "draft": {},
        "evidence": [],
        "turns": [*(state.get("turns") or []), turn][-KEPT_TURNS:],
    }
    return update | {"usage": watch.update()}


def with_reply(update: Update, state: State, base: str = "") -> Update:
    """Return an update with the chat message of its answer, if it has one: Markdown, citations as links below `base`.

    The question goes before it where no message holds it yet. A text that was streamed as it is keeps its message id,
    so that chat clients show it once.
    """
    if not update.get("answer"):
        return update
    answer, draft = Answer.model_validate(update["answer"]), state.get("draft", {})
    same = str(draft.get("text", "")).strip() == answer.text.strip()
    reply = AIMessage(chat_text(answer, base), id=draft.get("message_id") if same else None)
    asked_id = state.get("asked_id", "")
    held = any(message.id == asked_id for message in state.get("messages") or [])
    return update | {"messages": [*([] if held else [HumanMessage(state.get("asked", ""))]), reply]}


def unique(notes: Sequence[StoredNote]) -> list[StoredNote]:
    """Return the notes without repeats, in order."""
    return list({(item["step"], item["kind"], item["message"]): item for item in notes}.values())
