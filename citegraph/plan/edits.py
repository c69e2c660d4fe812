"""What a reply to a clarification changes in the plan: it picks an option, names a document or edits the filters."""

import re
from dataclasses import replace
from typing import Any, Literal

from citegraph.corpus.filters.checks import check_filters
from citegraph.corpus.filters.clause import Clause
from citegraph.corpus.schema.bucket import Bucket
from citegraph.language import terms
from citegraph.language.word_tables import pattern
from citegraph.plan.stored_filters import fields_of, inferred, stored
from citegraph.question import cues
from citegraph.question.clauses import read_question, wanted
from citegraph.question.phrases import find_phrase
from citegraph.question.reading import Reading
from citegraph.run.context import Context
from citegraph.run.pieces import (
    AskedBack,
    BucketPlan,
    Effect,
    OfferedOption,
    Plan,
    StoredClause,
)
from citegraph.run.services import Corpus

EVERY = re.compile(
    r"^\W*(?:all|both|each|every\s?one|alle|beide|jede[rs]?|tou(?:s|tes)|les\s+deux)\b[\w\s]{0,24}\W*$",
    re.IGNORECASE,
)
LARGER = re.compile(
    r"\b(?:larger|bigger|higher|greater|largest|biggest|highest|more\s+expensive|größ(?:ere|te)\w*|hö(?:here|chste)\w*|teu(?:rer|erer|erste)\w*|plus\s+(?:grande?|élevée?))\b",
    re.IGNORECASE,
)
SMALLER = re.compile(
    r"\b(?:smaller|lower|cheaper|smallest|lowest|cheapest|less|klein(?:ere|ste)\w*|niedrig(?:ere|ste)\w*|(?:günst|bill)ig(?:ere|ste)\w*|plus\s+petite?)\b",
    re.IGNORECASE,
)
LATER = re.compile(
    r"\b(?:later|latest|newer|newest|most\s+recent|last|neuere\w*|neueste\w*|spätere\w*|plus\s+récente?)\b",
    re.IGNORECASE,
)
EARLIER = re.compile(
    r"\b(?:earlier|earliest|older|oldest|first\s+one\s+signed|(?:ält|früh)(?:ere|este)\w*|plus\s+ancienne?)\b",
    re.IGNORECASE,
)
ORDINALS = ("first", "second", "third", "fourth", "fifth")


def apply_reply(
    corpus: Corpus, plan: Plan, clarification: AskedBack, context: Context
) -> tuple[Plan, list[str]]:
    """Return the plan after a reply and a line about what changed; blocking.

    `clarification` holds `type`, `options` (each `{"id", "label", "effect"}`) and `reply` (text or an option's id).
    """
    reply = str(clarification["reply"]).strip()
    option = chosen_option(clarification.get("options", []), reply)
    if option is not None:
        return apply_effect(plan, option["effect"]), [f"You chose “{option['label']}”."]
    if clarification["type"] == "ambiguous" and EVERY.match(reply):
        shown = [
            doc_id
            for option in clarification.get("options", [])
            for doc_id in option["effect"].get("only", [])
        ]
        return plan | {"only": shown}, ["You asked for all of them."]
    if clarification["type"] == "ambiguous":
        only = pick_documents(corpus, clarification.get("options", []), reply)
        if only:
            return plan | {"only": only}, [f"“{reply}” was taken to mean {', '.join(only)}."]
    changed, lines = edit_plan(corpus, plan, reply, context)
    before = [part["filters"] for part in plan["per_bucket"].values()]
    if [part["filters"] for part in changed["per_bucket"].values()] == before:
        lines = [*lines, f"“{reply[:80]}” changed no condition."]
    return changed, lines


def chosen_option(options: list[OfferedOption], reply: str) -> OfferedOption | None:
    """Return the option whose id or whole label was given, or that an ordinal names, else None."""
    wanted = reply.casefold()
    for option in options:
        if wanted in {str(option["id"]).casefold(), option["label"].casefold()}:
            return option
    for place, word in enumerate(ORDINALS):
        if re.fullmatch(rf"(?:the\s+)?{word}(?:\s+one)?[.!]?", wanted) and place < len(options):
            return options[place]
    return None


def apply_effect(plan: Plan, effect: Effect) -> Plan:
    """Return the plan with an option's effect: filters replaced per bucket, documents picked, or the limit lifted."""
    changed = plan.copy()
    if "only" in effect:
        changed["only"] = effect["only"]
    for name, filters in effect.get("filters", {}).items():
        changed["per_bucket"] = changed["per_bucket"] | {
            name: changed["per_bucket"][name] | {"filters": filters}
        }
    if effect.get("export"):
        changed["export"] = True
    return changed


def pick_documents(corpus: Corpus, options: list[OfferedOption], reply: str) -> list[str]:
    """Return the documents that a free-text reply points at among the options: by extreme, else by shared rare words."""
    documents = [option["effect"]["only"][0] for option in options if option.get("effect", {}).get("only")]
    if not documents:
        return []
    extreme = pick_extreme(corpus, documents, reply)
    if extreme:
        return [extreme]
    asked = terms.content_words(reply)
    if not asked:
        return []
    described = {doc_id: describe(corpus, doc_id) for doc_id in documents}
    heads = {doc_id: terms.words(text) for doc_id, text in described.items()}
    rarity = {word: 1 + sum(word not in held for held in heads.values()) for word in asked}
    scores = {
        doc_id: sum(rarity[word] for word in asked if word in held and rarity[word] > 1)
        for doc_id, held in heads.items()
    }
    best = max(scores.values())
    return [doc_id for doc_id, score in scores.items() if score == best] if best else []


def describe(corpus: Corpus, doc_id: str) -> str:
    """Return file, title, printed values and text of a document, for matching a reply against it."""
    document = corpus.documents.get(doc_id)
    if document is None:
        return doc_id
    bucket = corpus.buckets[document.bucket]
    values = corpus.annotations.get(doc_id, document.bucket) or {}
    return "\n".join(
        [doc_id, document.source_file, document.title, bucket.document_fields_text(values), document.text]
    )


def pick_extreme(corpus: Corpus, doc_ids: list[str], reply: str) -> str | None:
    """Return the document with the largest or smallest amount, or the latest or earliest date, as the reply says."""
    for said, role, descending in (
        (LARGER, "main_amount", True),
        (SMALLER, "main_amount", False),
        (LATER, "main_date", True),
        (EARLIER, "main_date", False),
    ):
        if not said.search(reply):
            continue
        ranked: list[tuple[Any, str]] = []
        for doc_id in doc_ids:
            document = corpus.documents.get(doc_id)
            name = getattr(corpus.buckets[document.bucket], role) if document else None
            value = (
                (corpus.annotations.get(doc_id, document.bucket) or {}).get(name)
                if document and name
                else None
            )
            if value is not None:
                ranked.append((getattr(value, "amount", value), doc_id))
        if ranked:
            return sorted(ranked, reverse=descending)[0][1]
    return None


EditMode = Literal["reply", "replace", "narrow", "add"]
NEGATIVE = frozenset({"!=", "not in"})


def dropped_fields(bucket: Bucket, message: str, part: BucketPlan) -> list[str]:
    """Return the filtered fields whose conditions a message takes back ("any year", "remove the amount condition")."""
    about = pattern("condition").search(message)
    if not (pattern("drops").search(message) or (about and pattern("except", "deny").search(message))):
        return []
    if re.search(r"\d", message) and not about:
        return []
    fields = dict.fromkeys(
        field for item in part["filters"] if inferred(item) for field in sorted(fields_of(item))
    )
    gone = []
    for name in fields:
        declared = bucket.field(name)
        words = (*declared.words, name.replace("_", " ")) if declared else ()
        telling = [word for word in words if terms.bare(word) not in terms.stop_words() and len(word) > 2]
        dated = declared is not None and declared.type == "date" and pattern("period").search(message)
        if dated or any(find_phrase(message, word) for word in telling):
            gone.append(name)
    return gone


def edit_plan(corpus: Corpus, plan: Plan, reply: str, context: Context) -> tuple[Plan, list[str]]:
    """Return the plan with the reply's clauses put in place of those on the same field; the rest stays.

    "any year" drops the clause on the main date, "X not Y" drops Y.
    """
    lines: list[str] = []
    per_bucket = dict(plan["per_bucket"])
    out = taken_out(reply)
    for name, part in plan["per_bucket"].items():
        bucket = corpus.buckets[name]
        reading = read_question(bucket, corpus.linker, reply, context.now)
        # Nobody looks for what is not wanted.
        lost = [word for word in reading.names if word in out]
        said_out = [f"“{word}” could not be left out, since no field of {name} holds it." for word in lost]
        reading = replace(
            reading,
            names=tuple(word for word in reading.names if word not in out),
            terms=tuple(word for word in reading.terms if word not in out),
        )
        changed, said = edit_filters(corpus, name, part, reading, context)
        gone = dropped_fields(bucket, reply, part)
        changed = [item for item in changed if not inferred(item) or not fields_of(item) & set(gone)]
        said += [f"The condition on {field.replace('_', ' ')} was dropped." for field in gone]
        per_bucket[name] = part | {
            "filters": changed,
            "names": [word for word in part["names"] if word not in terms.words(reply)]
            if negated_names(reply, part)
            else reading_names(part, reading),
            "terms": list(
                dict.fromkeys([*(word for word in part["terms"] if word not in out), *reading.terms])
            ),
            "noun": reading.noun or part["noun"],
        }
        lines += said + said_out
    intent = "list" if plan["intent"] == "list" or cues.LIST.search(reply) else plan["intent"]
    first = plan["queries"][0]
    return plan | {
        "per_bucket": per_bucket,
        "intent": intent,
        "queries": [f"{first} {reply}", *plan["queries"][1:]],
    }, lines


def negated_names(reply: str, part: BucketPlan) -> bool:
    """Tell whether the reply takes back a name of the question ("Gilead not Amgen")."""
    return bool(cues.NEGATION.search(reply)) and any(word in terms.words(reply) for word in part["names"])


def reading_names(part: BucketPlan, reading: Reading) -> list[str]:
    """Return the names of the question, unless the reply linked a name instead."""
    return [] if reading.mentions else list(dict.fromkeys([*part["names"], *reading.names]))


def taken_out(reply: str) -> set[str]:
    """Return the words that a reply takes back: those after its "not" or "without", up to a comma, "but" or "only"."""
    if not cues.NEGATION.search(reply):
        return set()
    return set(terms.words(re.split(r"[,;]|\b(?:but|only)\b", cues.NEGATION.split(reply)[-1])[0]))


def without_values(filters: list[StoredClause], fresh: list[StoredClause]) -> list[StoredClause]:
    """Return the filters without the values that a reply excludes ("without Nevada" after "Delaware or Nevada")."""
    excluded = {
        (clause["field"], str(value).casefold())
        for clause in fresh
        if clause.get("operator") in NEGATIVE
        for value in (clause["value"] if isinstance(clause["value"], list) else [clause["value"]])
    }
    kept = []
    for clause in filters:
        if clause.get("operator") not in {"=", "in", "contains"} or not inferred(clause):
            kept.append(clause)
            continue
        values = clause["value"] if isinstance(clause["value"], list) else [clause["value"]]
        left = [value for value in values if (clause["field"], str(value).casefold()) not in excluded]
        if len(left) == len(values):
            kept.append(clause)
        elif left:
            kept.append(clause | {"operator": "in", "value": left})
    return kept


def same_date_field(bucket: Bucket, part: BucketPlan, clause: Clause) -> Clause:
    """Return a reply's period on the date field that the question already filters, when the reply names none itself."""
    if clause.field != bucket.main_date:
        return clause
    dates = {field.name for field in bucket.fields if field.type == "date"}
    used = [old["field"] for old in part["filters"] if old.get("field") in dates]
    return clause.model_copy(update={"field": used[0]}) if used and bucket.main_date not in used else clause


def edit_filters(
    corpus: Corpus,
    bucket: str,
    part: BucketPlan,
    reading: Reading,
    context: Context,
    mode: EditMode = "reply",
) -> tuple[list[StoredClause], list[str]]:
    """Return the filters with those of the reply in place of inferred ones on the same field.

    Args:
        mode: whether another value of a field with several ("with B" after "with A") takes the place of the one that is
            there, must hold too, or is an alternative. A reply's must hold too, and what it does not want is only taken
            from what is there.
    """
    fresh: list[StoredClause] = []
    said: list[str] = []
    for read in reading.clauses:
        if not isinstance(read, Clause):
            fresh.append(stored(read))
            continue
        clause = same_date_field(corpus.buckets[bucket], part, read)
        filtered = any(clause.field == old.get("field") for old in part["filters"])
        if clause.operator in NEGATIVE and not filtered and mode == "reply":
            continue
        checked = check_filters(corpus.buckets[bucket], [clause], today=context.now)
        fresh += [stored(one) for one in wanted(checked.filters, context)]
        said += [str(problem) for problem in checked.problems]
    kept = without_values(part["filters"], fresh)
    if mode == "add":
        return added(kept, fresh), said
    # What is taken out leaves the rest of the field's values standing.
    taken = {clause.get("field") for clause in fresh if clause.get("operator") not in NEGATIVE}
    several = {field.name for field in corpus.buckets[bucket].fields if field.type == "keywords"}
    listed = several if mode in ("reply", "narrow") else set()
    kept = [
        clause
        for clause in kept
        if not inferred(clause) or clause.get("field") not in taken or clause.get("field") in listed
    ]
    held = {clause.get("field") for clause in kept if clause.get("operator") in {"=", "in", "contains"}}
    unique = [
        clause
        for clause in fresh
        if clause not in kept and (clause.get("operator") not in NEGATIVE or clause.get("field") not in held)
    ]
    said += [
        f"Now applied: {clause.get('field')} {clause.get('operator')} {clause.get('value')}"
        for clause in unique
    ]
    return kept + unique, said


def added(kept: list[StoredClause], fresh: list[StoredClause]) -> list[StoredClause]:
    """Return the filters with other documents as an alternative: "and those of 2023 too", "also those of A".

    Values of a field that is filtered stand beside its own; conditions on other fields beside all that there are.
    """
    out = list(kept)
    others: list[StoredClause] = []
    for clause in fresh:
        place = next(
            (n for n, old in enumerate(out) if inferred(old) and fields_of(old) == fields_of(clause)), None
        )
        if place is None:
            others.append(clause)
        elif out[place] != clause:
            out[place] = {"mode": "any", "clauses": [out[place], clause]}
    soft = [item for item in out if inferred(item)]
    if others and soft:
        hard = [item for item in out if not inferred(item)]
        out = [*hard, {"mode": "any", "clauses": [_all_of(soft), _all_of(others)]}]
    return out


def _all_of(items: list[StoredClause]) -> StoredClause:
    return items[0] if len(items) == 1 else {"mode": "all", "clauses": items}
