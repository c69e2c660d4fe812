"""The whole plan of a question: typed filters per bucket, kind of answer, strategy and first searches."""

from collections.abc import Mapping, Sequence, Set

from citegraph.corpus.filters.checks import check_filters
from citegraph.corpus.filters.clause import (
    Clause,
    Filters,
    Group,
    parse_clause,
    typed_filters,
)
from citegraph.corpus.linking.name_search import Link
from citegraph.corpus.schema.bucket import Bucket
from citegraph.errors import BadInput, Unavailable
from citegraph.language import terms
from citegraph.language.word_tables import pattern
from citegraph.plan.follow_ups import as_left, follow_up, named_in
from citegraph.plan.narrowing import (
    leads_on,
    named_documents,
    narrow,
    part_of,
    parts_apart,
    with_named,
    with_negatives,
    with_stated_date,
)
from citegraph.plan.numbers_asked import only_how_much
from citegraph.plan.reply_edits import apply_reply
from citegraph.plan.rows_asked import with_rows
from citegraph.plan.shape import SETS, formed, shape, shape_of
from citegraph.plan.sides_apart import sides_apart
from citegraph.plan.stored_filters import fields_of, inferred, wanted
from citegraph.plan.tables_asked import with_table
from citegraph.plan.turns import last_turn, last_turns
from citegraph.plan.unbound import counts_or_lists, fields_bound, without_denied
from citegraph.question import cues
from citegraph.question.clauses import read_question
from citegraph.question.functions import asks
from citegraph.question.named_values import clause_of
from citegraph.question.ordering import RANKS
from citegraph.question.phrases import GENERAL_DOCUMENTS, named
from citegraph.question.reading import stored
from citegraph.question.sides import Side as ToldSide
from citegraph.question.sides import beside, enumerated, split_sides
from citegraph.run.budgets import tool_calls_left
from citegraph.run.context import Context
from citegraph.run.model_calls import note
from citegraph.run.services import SAID, Corpus, has_metadata, without_metadata
from citegraph.run.state import State
from citegraph.run.state_types import (
    CallArguments,
    Decomposed,
    GroupCondition,
    Plan,
    Reading,
    Shape,
    Side,
    StoredClause,
    StoredNote,
    ToolCall,
)


def read(
    corpus: Corpus,
    name: str,
    text: str,
    hard: Mapping[str, Filters],
    context: Context,
    held: Link | None = None,
) -> tuple[Reading, list[StoredNote]]:
    """Return what a text says to a bucket under the caller's filters, without conditions while the store is down; blocking.

    Args:
        held: the link of a name in the text whose condition takes the place of those on its field.
    """
    bucket = corpus.buckets[name]
    reading = read_question(bucket, corpus.linker, text, context.now)
    said = [note("schema_plan", "clause dropped", line) for line in reading.pop("dropped")]
    said += [note("schema_plan", "linked value", line) for line in reading.pop("notes")]
    filters = reading["filters"]
    if held is not None:
        own = check_filters(bucket, [clause_of(bucket, held)], today=context.now).filters
        filters = [*besides(bucket, filters, held), *map(stored, own)]
    inferred = wanted(filters, context) if has_metadata(corpus) else []
    return {**reading, "filters": [*map(stored, hard.get(name, ())), *inferred]}, said


def names_several(part: Reading) -> bool:
    """Tell whether two conditions are on one field, as those on the names of two sides are."""
    fields = [item["field"] for item in part["filters"] if "field" in item and inferred(item)]
    return len(set(fields)) < len(fields)


def with_sides(corpus: Corpus, plan: Plan, state: State, hard: dict[str, Filters], context: Context) -> Plan:
    """Return a plan with the sides of a comparison; names that no document holds together make one of a question of fact."""
    decomposition, lead = state["decomposition"], plan["buckets"][0]
    part, apart = plan["per_bucket"][lead], list[ToldSide]()
    compares = plan["intent"] == "compare"
    if (compares or (plan["intent"] == "qa" and not decomposition.get("by"))) and names_several(part):
        apart = sides_apart(corpus, lead, state["question"], part)
    if not (compares or apart):
        return plan
    queries = [
        item["query"] for item in decomposition.get("subqueries", []) if item["purpose"] == "compare_side"
    ]
    if len(queries) > 1:
        apart = [ToldSide(query, query) for query in queries]  # a model's words are taken whole
    elif compares:
        items = enumerated(corpus.buckets[lead], corpus.linker, state["question"], today=context.now)
        held = all(any(item.label in side.label for side in apart) for item in items)
        apart = apart if held and apart else items
    if not apart:
        apart = split_sides(corpus.buckets[lead], corpus.linker, state["question"], today=context.now)
    sides = [read_alone(corpus, plan, side, hard, context) for side in apart]
    if decomposition.get("by") == "model":
        sides = [named_alone(corpus, side) for side in sides]
    return {**plan, "intent": "compare", "sides": sides}


def named_alone(corpus: Corpus, side: Side) -> Side:
    """Return a side whose words are a model's without the kinds and keywords that rules read in them.

    A model writes what to search for; "typosquatting" is no condition of its own there. Names, days and numbers are facts.
    """
    per_bucket: dict[str, Reading] = {}
    for name, part in side["per_bucket"].items():
        bucket = corpus.buckets[name]
        kinds = {item.name for item in bucket.fields if item.is_listed}
        kinds -= {*bucket.naming_fields, *bucket.entity_fields}
        kept = [item for item in part["filters"] if not (inferred(item) and fields_of(item) & kinds)]
        per_bucket[name] = {**part, "filters": kept}
    return {**side, "per_bucket": per_bucket}


def read_alone(
    corpus: Corpus, plan: Plan, told: ToldSide, hard: dict[str, Filters], context: Context
) -> Side:
    """Return what each bucket reads in a part of the question alone, its filters narrowed to match something; blocking.

    The filters of the whole question would keep each part to the documents that another one names. A part's own name is
    linked as in the whole question: with other words around it it may look like another one's.
    """
    per_bucket = {}
    for name in plan["buckets"]:
        link = told.link if name == plan["buckets"][0] else None
        part, _ = read(corpus, name, told.question, hard, context, link)
        per_bucket[name] = going_with(corpus, name, part, link) if link and has_metadata(corpus) else part
    alone, _ = narrow(corpus, {**plan, "per_bucket": per_bucket, "only": []}, told.question)
    side: Side = {
        "label": told.label,
        "question": told.question,
        "per_bucket": alone["per_bucket"],
        "only": alone["only"],
    }
    if told.names and not side["only"]:
        held = [set(corpus.documents.search(plan["buckets"][0], word, MOST_NAMED)) for word in told.names]
        side |= {"names": list(told.names), "only": sorted(set.intersection(*held))}
    return side


MOST_NAMED = 30
"""Documents whose titles or files have a name that are looked at."""


def going_with(corpus: Corpus, name: str, part: Reading, held: Link) -> Reading:
    """Return a side's part without the inferred conditions that no document of its own name meets: they are the other side's."""
    own = [clause for clause in part["filters"] if not inferred(clause) or clause.get("raw") == held.text]
    kept = list(own)
    for clause in part["filters"]:
        if clause not in own and corpus.annotations.count(name, typed_filters([*kept, clause])):
            kept.append(clause)
    return {**part, "filters": kept}


def besides(bucket: Bucket, filters: Sequence[StoredClause], held: Link) -> list[StoredClause]:
    """Return the conditions that leave a name's own one its place: of a list field those on other names stay."""
    declared = bucket.field(held.field)
    listed = declared is not None and declared.type == "keywords"
    return [
        item
        for item in filters
        if held.field not in fields_of(item)
        or (listed and "raw" in item and held.text.casefold() not in item["raw"].casefold())
    ]


def plan_without_metadata(
    corpus: Corpus, state: State, context: Context, error: Unavailable
) -> tuple[Plan, list[StoredNote]]:
    """Return the plan of an unfiltered search, and the note that says so.

    Raises:
        Unavailable: the question cannot be answered without the store: it has the caller's filters, or asks for a
            list or a number over all documents.
    """
    if context.filters:
        raise Unavailable(f"the filters {', '.join(context.filters)} cannot be applied: {error}") from error
    plan, notes = make_plan(without_metadata(corpus, str(error)), state, context)
    if plan["kind"] == "documents" or asks_for_a_set(corpus, plan, state):
        raise Unavailable(
            f"a list or a number over all documents needs the metadata store: {error}"
        ) from error
    return plan | {"metadata": False}, [*notes, note("schema_plan", "degraded", SAID)]


def asks_for_a_set(corpus: Corpus, plan: Plan, state: State) -> bool:
    """Tell whether a question may ask for a list or a number over many documents, in doubt yes.

    Filters and names that no store confirms make such a question look like one for a fact.
    """
    intent, question = state["decomposition"]["intent"], state["question"]
    amounts = any(corpus.buckets[name].main_amount for name in plan["buckets"])
    functions = ["count", "sum", "average", *(("max", "min") if amounts else ())]
    ordered = amounts and pattern(*RANKS).search(question)
    computes = intent == "compute" and (bool(ordered) or any(asks(question, one) for one in functions))
    return computes or (intent == "list" and bool(cues.LIST.search(question)))


def make_plan(corpus: Corpus, state: State, context: Context) -> tuple[Plan, list[StoredNote]]:
    """Return the plan and its notes; the newest reply to a clarification edits the reading of the question."""
    plan, problems = plan_as_read(corpus, state, context)
    plan, said = finished(corpus, plan, state, context)
    return plan, said if state.get(
        "edit"
    ) else problems + said  # the question before an edit has said its own


def plan_as_read(corpus: Corpus, state: State, context: Context) -> tuple[Plan, list[StoredNote]]:
    """Return what a question says to its buckets and the form of its answer, no condition yet held against the documents.

    Documents and table files that are named are taken alone.
    """
    question = state["question"]
    buckets = [route["bucket"] for route in state["routes"]]
    if not buckets:
        raise BadInput("No bucket was chosen for the question.")
    if not context.buckets:
        buckets += [name for _, name in named_documents(corpus, question) if name not in buckets]
    hard = caller_filters(corpus, buckets, context)
    buckets = [name for name in buckets if len(hard[name]) == len(context.filters)]
    if not buckets:
        raise BadInput(f"No bucket has all of the fields of the filters {', '.join(context.filters)}.")
    plans: dict[str, Reading] = {}
    notes: list[StoredNote] = []
    for name in buckets:
        plans[name], told = read(corpus, name, question, hard, context)
        notes += told
    plan = with_sides(corpus, settle(corpus, question, state, plans, context), state, hard, context)
    if plan["kind"] == "passages" and not plan.get("sides"):
        plan = with_named(corpus, plan, question)
    if not (state.get("edit") or state.get("clarifications")):
        by_model = bool(state["decomposition"].get("by"))
        plan = with_table(corpus, plan, question, context, named_only=by_model)
    return plan, notes


def finished(corpus: Corpus, plan: Plan, state: State, context: Context) -> tuple[Plan, list[StoredNote]]:
    """Return a plan whose conditions fit what is stored, after edits and replies, and notes of what became of them."""
    question, notes = state["question"], list[StoredNote]()
    if plan["kind"] == "passages" and not plan.get("sides"):
        plan, said = narrow(corpus, plan, question)
        notes += [note("schema_plan", "relaxed", line) for line in said]
    edited = state.get("edit") or state.get("clarifications")
    if not (edited or plan.get("rows") or state["decomposition"].get("by")):
        before, plan = plan["only"], with_rows(corpus, plan, question)
        if plan["only"] != before:
            line = f"{len(plan['only'])} documents hold rows with the words of the question: only those were taken."
            notes.append(note("schema_plan", "rows", line))
    if state.get("edit"):
        turn, earlier = last_turns(state.get("turns") or [], state["edit"])
        assert turn is not None, "an edit without a turn"
        plan, lines = follow_up(corpus, as_left(plan, turn, context), turn, state["edit"], context, earlier)
        plan, said = of_edit(corpus, plan, state["edit"], context)
        notes = [note("schema_plan", "follow-up", line) for line in [*lines, *said]]
        if plan["kind"] == "passages" and not plan["only"]:
            plan, said = narrow(corpus, plan, state["edit"])
            notes += [note("schema_plan", "relaxed", line) for line in said]
    for clarification in state.get("clarifications") or []:
        if "reply" in clarification and not clarification.get("missed"):
            plan, lines, *_ = apply_reply(corpus, plan, clarification, context)
            notes += [note("schema_plan", "reply", line) for line in lines]
    for fitted in (with_stated_date, with_negatives, without_denied) if plan["kind"] == "documents" else ():
        plan, said = fitted(corpus, plan)
        notes += [note("schema_plan", "linked value", line) for line in said]
    if not (edited or state["decomposition"].get("by")):
        plan, said = over_all(corpus, plan, state["question"], context)
        notes += [note("schema_plan", "left out", line) for line in said]
    return with_parts(corpus, plan, state["decomposition"], context), notes


def over_all(corpus: Corpus, plan: Plan, question: str, context: Context) -> tuple[Plan, list[str]]:
    """Return the plan of a list or count that names no kind of documents over all buckets, and what is to be said; blocking.

    A bucket that takes up less of the question than another one ("expire" is no field there) is left out.
    """
    if plan["kind"] == "passages" and says_nothing(question):
        plan = formed(plan, shape("compute", {"function": "count", "field": None}))
    names = corpus.filled(list(context.buckets or corpus.buckets))
    asked, number = terms.words(question), plan["aggregate"]
    whole = plan["kind"] == "documents" and counts_or_lists(plan) and number.keys() <= {"function", "field"}
    order, main = plan["order_by"], corpus.buckets[plan["buckets"][0]].main_date
    ranked = order is not None and order["field"] != main
    if not whole or ranked or plan.get("rows") or plan["only"] or plan.get("lacking"):
        return plan, []
    if any(named(asked, corpus.buckets[name].nouns) for name in names):
        return plan, []
    hard = caller_filters(corpus, [*plan["buckets"], *names], context)
    names = [name for name in names if len(hard[name]) == len(context.filters)]
    names = [name for name in names if corpus.buckets[name].main_date] if order else names
    lead = plan["buckets"][0]
    parts = {name: read(corpus, name, question, hard, context)[0] for name in names if name != lead}
    parts = {lead: plan["per_bucket"][lead], **parts}
    # A name that no field of a bucket holds may stand in its texts: the review looks for it.
    kept, said = reading_most(
        {name: {*part["terms"], *part["unused"]} - set(part["names"]) for name, part in parts.items()}
    )
    return {**plan, "buckets": kept, "per_bucket": {name: parts[name] for name in kept}}, said


def of_edit(corpus: Corpus, plan: Plan, message: str, context: Context) -> tuple[Plan, list[str]]:
    """Return the plan of a set over several buckets for those that a message means, and what is to be said; blocking."""
    if not plan["buckets"][1:]:
        return plan, []
    names = named_in(corpus, plan["buckets"], message)
    if not counts_or_lists(plan):
        return {**plan, "buckets": names[:1]}, []
    parts = {name: read(corpus, name, message, {}, context)[0] for name in names}
    kept, said = reading_most({name: {*part["terms"], *part["unused"]} for name, part in parts.items()})
    return {**plan, "buckets": kept}, said


def reading_most(unread: Mapping[str, Set[str]]) -> tuple[list[str], list[str]]:
    """Return the buckets that leave no more of a text unread than the one that reads most, and what is to be said of the others."""
    best = min(unread, key=lambda name: len(unread[name]))
    kept = [name for name in unread if unread[name] <= unread[best]]
    words = dict.fromkeys(word for words in unread.values() for word in sorted(words - unread[best]))
    left = ", ".join(name for name in unread if name not in kept)
    return kept, [
        f"Only {', '.join(kept)}: nothing is known by “{' '.join(words)}” in {left}."
    ] if left else []


def says_nothing(question: str) -> bool:
    """Tell whether no word says what is wanted but those for documents and for an overview of them: "what do we have?"."""
    rest = cues.SUMMARIZE.sub(" ", GENERAL_DOCUMENTS.sub(" ", question))
    return not terms.content_words(rest)


def with_parts(corpus: Corpus, plan: Plan, decomposition: Decomposed, context: Context) -> Plan:
    """Return a plan with the parts of its question that concern different documents, each read on its own; blocking."""
    apart = parts_apart(decomposition) if plan["kind"] == "passages" else []
    if not apart:
        return plan
    hard = caller_filters(corpus, plan["buckets"], context)
    return {
        **plan,
        "parts": [read_alone(corpus, plan, ToldSide(part, part), hard, context) for part in apart],
    }


def caller_filters(corpus: Corpus, buckets: list[str], context: Context) -> dict[str, Filters]:
    """Return the caller's hard filters per bucket that knows the field; a bucket that misses one is not searched.

    Raises:
        BadInput: a filter cannot be read, or no routed bucket has its field. Dropping it would widen the search.
    """
    hard: dict[str, list[Clause | Group]] = {name: [] for name in buckets}
    for text in context.filters:
        clause = parse_clause(text)
        homes = [name for name in buckets if corpus.buckets[name].field(clause.field)]
        if not homes:
            fields = ", ".join(field.name for name in buckets for field in corpus.buckets[name].fields)
            raise BadInput(
                f"Filter {text!r}: no field {clause.field!r} in {', '.join(buckets)}. Fields: {fields}."
            )
        for name in homes:
            checked = check_filters(corpus.buckets[name], [clause], today=context.now)
            if checked.problems:
                raise BadInput(f"Filter {text!r}: {checked.problems[0]}")
            hard[name].extend(checked.filters)
    return {name: tuple(clauses) for name, clauses in hard.items()}


def settle(corpus: Corpus, question: str, state: State, plans: dict[str, Reading], context: Context) -> Plan:
    """Return the whole plan: intent made certain with the schema, kind of answer, strategy and queries."""
    decomposition = state["decomposition"]
    best = order_buckets(list(plans), plans)
    shapes = {
        name: shape_of(corpus.buckets[name], question, decomposition, plans[name], context.now)
        for name in best
    }
    if not decomposition.get("by"):
        best = able_first([corpus.buckets[name] for name in best], plans, shapes)
    lead, form = plans[best[0]], shapes[best[0]]
    if decomposition["intent"] != "compute" and form["aggregate"]["function"] == "sum":
        # The verb says whether it is a sum at all ("how much did A grow?"): an unknown one is named in the answer.
        verb = only_how_much(corpus.buckets[best[0]], question, lead) or []
        plans[best[0]] = lead = {**lead, "unused": list(dict.fromkeys([*lead["unused"], *verb]))}
    if having := form["aggregate"].get("having"):
        plans[best[0]] = lead = without_bound(lead, having)
    chosen: Plan = {}
    if form["intent"] in SETS and leads_on(decomposition):
        # Which documents form the set is known only when the name has been found that leads to them.
        if decomposition["intent"] in SETS:
            chosen = {"set": form}
        form = shape("qa")
    if form["intent"] not in SETS:
        form = {**form, "order_by": None}
    else:
        best = together(best, form, state)
    queries = [question, *(item["query"] for item in decomposition.get("subqueries", []))]
    whole: Plan = {
        **chosen,
        "buckets": best,
        "per_bucket": {name: plans[name] for name in best},
        "strategy": "keyword" if lead["identifiers"] and len(lead["terms"]) < 2 else "hybrid",
        "queries": list(dict.fromkeys(queries))[:4],
        "only": [],
    }
    return formed(whole, form)


def together(names: Sequence[str], form: Shape, state: State) -> list[str]:
    """Return the buckets that a set is over: those that a model read or that are in view, where it is a list or a count; else one."""
    turn = last_turn(state.get("turns") or []) if state.get("edit") else None
    meant = (turn or {}).get("buckets", []) or state["decomposition"].get("primary_buckets", [])
    kept = [name for name in names if name in meant] if counts_or_lists(form) else []
    return kept or list(names[:1])


def without_bound(part: Reading, having: GroupCondition) -> Reading:
    """Return a part without the bound that is of a group's sum and not of each document's amount; its currency stays."""
    name = having["column"].partition("_")[2]
    kept: list[StoredClause] = []
    for item in part["filters"]:
        if item.get("field") != name or item.get("operator") != having["operator"] or not inferred(item):
            kept.append(item)
            continue
        value = item.get("value")
        code = value.get("currency") if isinstance(value, dict) else None
        kept += [{**item, "operator": "=", "value": code}] if code else []
    return {**part, "filters": kept}


def order_buckets(names: list[str], plans: dict[str, Reading]) -> list[str]:
    """Keep the router's order; a bucket that holds a name of the question comes before one that holds none."""
    return sorted(names, key=lambda name: not plans[name]["named"])


def able_first(
    buckets: Sequence[Bucket], plans: Mapping[str, Reading], shapes: Mapping[str, Shape]
) -> list[str]:
    """Return names of buckets in their order; one that can compute what is asked comes before a first one that cannot.

    Two buckets may hold a name alike: "how much" of it is answered by the one that has amounts. A bucket whose documents
    or fields are named stays first, and so does one that leaves fewer words of the question unread.
    """
    names = [bucket.name for bucket in buckets]
    first = plans[names[0]]
    if shapes[names[0]]["intent"] in SETS or first["noun"] or first["asked"]:
        return names
    for bucket in buckets[1:]:
        part = plans[bucket.name]
        computes = shapes[bucket.name]["intent"] == "compute" and shapes[bucket.name]["aggregate"]["field"]
        of_somebody = not set(fields_bound(part)).isdisjoint(bucket.entity_fields)
        if computes and of_somebody and len(part["terms"]) <= len(first["terms"]):
            return [bucket.name, *(name for name in names if name != bucket.name)]
    return names


def first_calls(plan: Plan, context: Context, state: State) -> list[ToolCall]:
    """Return the first tool calls of a plan, as many as the budget allows."""
    allowed = tool_calls_left(state, context)
    calls: list[ToolCall]
    if plan["kind"] == "documents":
        calls = [{"tool": "query_documents", "args": {"bucket": name}} for name in plan["buckets"]]
    elif plan.get("sides"):
        calls = [
            {
                "tool": "search",
                "side": number,
                "args": {
                    "buckets": plan["buckets"],
                    "query": side["question"],
                    "mode": plan["strategy"],
                    "filters": {name: part["filters"] for name, part in side["per_bucket"].items()},
                    **({"only": side["only"]} if side["only"] else {}),
                },
            }
            for number, side in enumerate(plan["sides"])
        ]
        calls += [passage_call(plan, query) for query in beside(state["decomposition"])]
    else:
        calls = [passage_call(plan, query) for query in plan["queries"]]
        parts = [
            {name: part["filters"] for name, part in side["per_bucket"].items()}
            for side in plan.get("parts", [])
        ]
        own = {name: part["filters"] for name, part in plan["per_bucket"].items()}
        if leads_on(state["decomposition"]) and any(own.values()) and own in parts:
            calls = calls[1:]  # the documents of one part are searched for that part
        elif len(calls) == 1:  # a model that names further searches has named what they look for
            calls[0]["args"] |= topics_asked(state["decomposition"])
    return calls[:allowed]


def topics_asked(decomposition: Decomposed) -> CallArguments:
    """Return what is asked about, in the words that documents use for it as a model knows them: each is searched beside the
    question, which may say much besides. {} without any.
    """
    topics = decomposition.get("topic_terms", []) if decomposition.get("by") == "model" else []
    return {"wordings": topics} if topics else {}


def passage_call(plan: Plan, query: str) -> ToolCall:
    """Return the search of a plan's buckets for one of its queries."""
    arguments: CallArguments = {
        "buckets": plan["buckets"],
        "query": query,
        "mode": plan["strategy"],
        "filtered": True,
        "only": plan["only"],
    }
    return {"tool": "search", "args": arguments | part_of(plan, query)}
