"""The questions that a clarification asks: what was found, what was tried, and options with counts."""

from collections.abc import Sequence

from citegraph.corpus.filters.clause import Clause
from citegraph.corpus.schema.bucket import Bucket
from citegraph.evidence.candidates import Candidate
from citegraph.plan.stored_filters import bucket_filters, printed, stored
from citegraph.run.degraded import corpus_of
from citegraph.run.pieces import AskedBack, OfferedOption, Plan, StoredClause
from citegraph.run.services import Corpus
from citegraph.run.state import Json

MAX_OPTIONS = 6


def no_results_question(corpus: Corpus, plan: Plan, unknown: Sequence[str]) -> AskedBack:
    """Return the question when nothing matches, with the number of documents under each relaxation; blocking."""
    corpus = corpus_of(corpus, plan)
    name = plan["buckets"][0]
    part = plan["per_bucket"][name]
    filters = part["filters"]
    tried = [printed(clause) for clause in filters]
    options = relaxed_options(corpus, name, filters)
    lacking = fields_hardly_stated(corpus, name, filters)
    what = " and ".join(tried)
    if unknown:
        names = ", ".join(f"“{word}”" for word in unknown)
        question = (
            f"Nothing in {name} mentions {names}"
            + (f" ({what})" if what else "")
            + ". Is it written differently, or shall I look for something else?"
        )
    elif what:
        question = f"I found no document in {name} with {what}."
        question += (
            " Shall I relax one of these, or did you mean something else?"
            if options
            else " What should I look for instead?"
        )
    else:
        question = f"I found nothing about that in {', '.join(plan['buckets'])}. Can you name a document, a party or a date?"
    return {
        "type": "no_results",
        "question": f"{question} {lacking}".strip(),
        "options": options,
        "tried": tried or [plan["queries"][0]],
    }


def fields_hardly_stated(corpus: Corpus, name: str, filters: list[StoredClause]) -> str:
    """Return a sentence about each condition's field that less than half of the bucket's documents state, "" for none."""
    total = corpus.annotations.count(name)
    said = []
    for field in dict.fromkeys(clause["field"] for clause in filters if "field" in clause):
        have = corpus.annotations.count(name, (Clause(field=field, operator="exists"),))
        if total and have < total / 2:
            said.append(f"Only {have} of {total} documents state their {field.replace('_', ' ')}.")
    return " ".join(said)


def relaxed_options(corpus: Corpus, name: str, filters: list[StoredClause]) -> list[OfferedOption]:
    """Return an option per inferred clause whose absence matches something, in the declared order of relaxation."""
    if not filters:
        return []
    typed = bucket_filters({"per_bucket": {name: {"filters": filters}}}, name)
    options: list[OfferedOption] = []
    for relaxation in corpus.annotations.relaxations(name, typed):
        if not relaxation.count or not relaxation.remaining:
            continue
        without = " and ".join(printed(stored(clause)) for clause in relaxation.dropped)
        left = [stored(clause) for clause in relaxation.remaining]
        options.append(
            {
                "id": str(len(options) + 1),
                "label": f"without “{without}”",
                "count": relaxation.count,
                "effect": {"filters": {name: left}},
            }
        )
    return options[:MAX_OPTIONS]


def facets_question(corpus: Corpus, plan: Plan, matched: int) -> AskedBack:
    """Return the question when too many documents match, with the most telling values and their counts; blocking."""
    name = plan["buckets"][0]
    bucket: Bucket = corpus.buckets[name]
    filters = plan["per_bucket"][name]["filters"]
    options = facet_options(corpus, plan)
    options.append({"id": "all", "label": "export all as CSV", "count": matched, "effect": {"export": True}})
    noun = bucket.nouns[0]
    question = f"{matched:,} documents match in {name}. Narrow them down ({noun} date, name, amount …), or take all as CSV?"
    return {
        "type": "overload",
        "question": question,
        "options": options,
        "tried": [printed(clause) for clause in filters],
    }


def facet_options(corpus: Corpus, plan: Plan) -> list[OfferedOption]:
    """Return options that narrow the first bucket by its most telling values, with the documents of each; blocking."""
    name = plan["buckets"][0]
    filters = plan["per_bucket"][name]["filters"]
    options: list[OfferedOption] = []
    for facets in corpus.annotations.telling_facets(name, bucket_filters(plan, name)).values():
        for facet in facets[:2]:
            options.append(
                {
                    "id": str(len(options) + 1),
                    "label": f"{facet.field.replace('_', ' ')}: {facet.label}",
                    "count": facet.count,
                    "effect": {"filters": {name: [*filters, stored(facet.clause)]}},
                }
            )
    return options[:MAX_OPTIONS]


def ambiguous_question(corpus: Corpus, plan: Plan, tied: Sequence[Candidate]) -> AskedBack | None:
    """Return the question when several documents fit equally, one option each with what tells them apart; blocking."""
    if len(tied) < 2:
        return None
    bucket = corpus.buckets[tied[0].bucket]
    telling = telling_fields(bucket, tied)
    options: list[OfferedOption] = []
    for number, candidate in enumerate(tied, 1):
        document = corpus.documents.get(candidate.doc_id)
        label = candidate.title or (document.title if document else "") or candidate.doc_id
        values = dict.fromkeys(candidate.value(name) for name in telling)
        details = [value for value in values if value and value not in label]
        shown = f"{label} ({', '.join(details)})" if details else label
        options.append(
            {
                "id": str(number),
                "label": f"{shown[:160]} [{candidate.doc_id}]",
                "count": 1,
                "effect": {"only": [candidate.doc_id]},
            }
        )
    question = f"{len(tied)} documents in {tied[0].bucket} fit that equally well. Which one do you mean?"
    tried = [printed(clause) for clause in plan["per_bucket"][tied[0].bucket]["filters"]]
    return {"type": "ambiguous", "question": question, "options": options, "tried": tried}


def which_document(corpus: Corpus, plan: Plan, pairs: Sequence[tuple[str, str]]) -> AskedBack | None:
    """Return the question which of some documents, given with their buckets, is meant; None for fewer than two; blocking."""
    corpus = corpus_of(corpus, plan)
    bucket = pairs[0][1] if pairs else ""
    tied = []
    for doc_id, name in pairs:
        values = corpus.annotations.get(doc_id, name) or {}
        if name == bucket:
            tied.append(Candidate(doc_id, name, 0.0, corpus.buckets[name].title(values), values))
    if bucket not in plan["per_bucket"]:
        plan = plan | {"per_bucket": {**plan["per_bucket"], bucket: {"filters": []}}}
    return ambiguous_question(corpus, plan, tied)


def missing_question(corpus: Corpus, plan: Plan, question: str) -> AskedBack:
    """Return a question for something that the user left out, with the most telling values and their counts; blocking."""
    corpus = corpus_of(corpus, plan)
    name = plan["buckets"][0]
    filters = plan["per_bucket"][name]["filters"]
    return {
        "type": "missing",
        "question": question,
        "options": facet_options(corpus, plan),
        "tried": [printed(clause) for clause in filters] or [plan["queries"][0]],
    }


def telling_fields(bucket: Bucket, tied: Sequence[Candidate]) -> list[str]:
    """Return up to three fields whose values differ most between the candidates, dates and names first."""
    ranked = []
    for place, declared in enumerate(bucket.fields):
        values = [candidate.value(declared.name) for candidate in tied]
        distinct = len({value for value in values if value})
        if distinct > 1 and all(len(value) < 80 for value in values):
            ranked.append((-distinct, place, declared.name))
    return [name for _, _, name in sorted(ranked)[:3]]


def offered(clarification: AskedBack) -> Json:
    """Return what the person sees: the effects of the options stay inside."""
    options = [
        {key: option[key] for key in ("id", "label", "count") if key in option}
        for option in clarification["options"]
    ]
    return {
        "type": clarification["type"],
        "question": clarification["question"],
        "options": options,
        "tried": clarification["tried"],
    }
