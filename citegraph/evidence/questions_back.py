"""The questions that a clarification asks: what was found, what was tried, and options with counts."""

from collections.abc import Sequence

from citegraph.corpus.filters.clause import Clause
from citegraph.corpus.schema.bucket import Bucket
from citegraph.evidence.candidates import Candidate
from citegraph.language.terms import language_of
from citegraph.language.word_tables import pattern, table
from citegraph.plan.stored_filters import bucket_filters, printed, with_part
from citegraph.question.reading import stored
from citegraph.run.context import Context
from citegraph.run.services import Corpus, corpus_of
from citegraph.run.state import Json, State
from citegraph.run.state_types import AskedBack, OfferedOption, Plan, StoredClause

MAX_OPTIONS = 6


def may_ask(state: State, context: Context, kind: str) -> bool:
    """Tell whether a clarification of this kind may still be asked: within the cap, and never the same thing twice."""
    asked = state.get("clarifications") or []
    return len(asked) < context.max_clarifications and all(item["type"] != kind for item in asked)


def may_ask_again(asked: Sequence[AskedBack], context: Context) -> bool:
    """Tell whether the last of some questions back may be asked once more: within the cap, and for the first time."""
    return len(asked) < context.max_clarifications and not any(item.get("missed") for item in asked)


def replied(asked: AskedBack, reply: str) -> AskedBack:
    """Return a question back with its reply, or as declined where nothing or "no" was said."""
    said = reply.strip(" .!")
    declined = not said or pattern("declines").fullmatch(said) is not None
    return {**asked, "declined": True} if declined else {**asked, "reply": reply}


DECLINED = "No reply was given, so the answer rests on what was found."


SHOWN = 120
"""Characters of a reply that are said back."""


def asked_once_more(plan: Plan, missed: AskedBack) -> AskedBack:
    """Return the question that a reply said nothing to once more, with the same options; it names the reply."""
    said = phrases(plan)["missed"].format(reply=missed["reply"][:SHOWN])
    return {
        "type": missed["type"],
        "question": f"{said} {missed['question']}",
        "options": missed["options"],
        "tried": missed.get("tried", []),
    }


def left_open(plan: Plan, missed: AskedBack) -> str:
    """Return what ends a run whose question back got no reply that says anything, with the options as they were given."""
    said = phrases(plan)
    labels = [f"- {option['label'].rpartition(' [')[0] or option['label']}" for option in missed["options"]]
    end = "\n".join([said["open"], *labels]) if labels else said["open_alone"]
    return f"{said['missed'].format(reply=missed['reply'][:SHOWN])} {end}"


def no_results_question(corpus: Corpus, plan: Plan, unknown: Sequence[str]) -> AskedBack:
    """Return the question when nothing matches, with the number of documents under each relaxation; blocking."""
    corpus = corpus_of(corpus, plan)
    name = plan["buckets"][0]
    part = plan["per_bucket"][name]
    filters = part["filters"]
    tried = [printed(clause) for clause in filters]
    options = relaxed_options(corpus, name, filters, phrases(plan))
    lacking = fields_hardly_stated(corpus, name, filters)
    said = phrases(plan)
    what = said["and"].join(tried)
    if unknown:
        names = ", ".join(f"“{word}”" for word in unknown)
        conditions = f" ({what})" if what else ""
        question = said["unknown"].format(bucket=name, names=names, conditions=conditions)
    elif what:
        question = said["no_match"].format(bucket=name, conditions=what)
        question += f" {said['relax'] if options else said['instead']}"
    else:
        question = said["nothing"].format(bucket=", ".join(plan["buckets"]))
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


def phrases(plan: Plan) -> dict[str, str]:
    """Return what questions back say, in the language of the question where it is one of those of the table."""
    known = table("asking_back")
    language = language_of(plan["queries"][0]) if plan.get("queries") else None
    return dict(known[language if language in known else "en"])


def relaxed_options(
    corpus: Corpus, name: str, filters: list[StoredClause], said: dict[str, str]
) -> list[OfferedOption]:
    """Return an option per inferred clause whose absence matches something, in the declared order of relaxation."""
    if not filters:
        return []
    typed = bucket_filters({"per_bucket": {name: {"filters": filters}}}, name)
    options: list[OfferedOption] = []
    for relaxation in corpus.annotations.relaxations(name, typed):
        if not relaxation.count or not relaxation.remaining:
            continue
        without = said["and"].join(printed(stored(clause)) for clause in relaxation.dropped)
        left = [stored(clause) for clause in relaxation.remaining]
        options.append(
            {
                "id": str(len(options) + 1),
                "label": said["without"].format(condition=without),
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
    said = phrases(plan)
    options.append({"id": "all", "label": said["export"], "count": matched, "effect": {"export": True}})
    question = said["many"].format(count=f"{matched:,}", bucket=name, noun=bucket.nouns[0])
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
    documents = corpus.documents.all_of(candidate.doc_id for candidate in tied)
    for number, candidate in enumerate(tied, 1):
        document = documents.get(candidate.doc_id)
        label = candidate.title or (document.title if document else "") or candidate.doc_id
        values = dict.fromkeys(candidate.value(name) for name in telling)
        details = [value for value in values if value and value not in label]
        shown = f"{label} ({', '.join(details)})" if details else label
        options.append(
            {
                "id": str(number),
                "label": f"{shown if len(shown) <= 160 else shown[:160].rpartition(' ')[0] + ' …'} [{candidate.doc_id}]",
                "count": 1,
                "effect": {"only": [candidate.doc_id]},
            }
        )
    question = phrases(plan)["ambiguous"].format(count=len(tied), bucket=tied[0].bucket)
    tried = [printed(clause) for clause in plan["per_bucket"][tied[0].bucket]["filters"]]
    return {"type": "ambiguous", "question": question, "options": options, "tried": tried}


def which_document(corpus: Corpus, plan: Plan, pairs: Sequence[tuple[str, str]]) -> AskedBack | None:
    """Return the question which of some documents, given with their buckets, is meant; None for fewer than two; blocking."""
    corpus = corpus_of(corpus, plan)
    bucket = pairs[0][1] if pairs else ""
    tied = []
    held = corpus.annotations.values_of(bucket, [doc_id for doc_id, name in pairs if name == bucket])
    for doc_id, name in pairs:
        if name == bucket:
            values = held.get(doc_id, {})
            tied.append(Candidate(doc_id, name, 0.0, corpus.buckets[name].title(values), values))
    if bucket not in plan["per_bucket"]:
        plan = with_part(plan, bucket, filters=[])
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
