"""What form the answer to a question over a set takes: a list in an order, a number, groups, the first of them."""

from datetime import date

from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.field import Field
from citegraph.encoder.multilingual import NUMBERS, Intent, asked_span, tag_question
from citegraph.language import terms
from citegraph.language.word_tables import alternation, pattern
from citegraph.plan.numbers_asked import (
    COMPUTED,
    amount_counted,
    days_asked,
    field_asked,
    group_listed,
    groups_counted,
    groups_kept,
    measured,
    share_asked,
    sides_asked,
    spread_asked,
    sum_asked,
    values_asked,
    values_counted,
)
from citegraph.plan.stored_filters import flat
from citegraph.plan.unbound import unmentioned
from citegraph.question import cues
from citegraph.question.functions import asks, number_said
from citegraph.question.groups import MONEY, limit_before, periods_asked, read_groups, top_group
from citegraph.question.intent import compared_names, counts_documents, settle_intent
from citegraph.question.missing import lacks
from citegraph.question.ordering import Rank, read_rank
from citegraph.question.phrases import find_phrase
from citegraph.question.spoken_of import understood
from citegraph.run.state_types import Decomposed, OrderBy, Plan, Reading, Shape, WantedNumber

SETS = frozenset({"list", "compute"})
"""Intents whose answer is a set of documents or a number over one: the database answers."""


def shape(intent: str, number: WantedNumber | None = None, order: OrderBy | None = None) -> Shape:
    """Return the form of an answer, without a number or an order where none is wanted."""
    return {"intent": intent, "aggregate": number or {"function": "none", "field": None}, "order_by": order}


def formed(plan: Plan, form: Shape) -> Plan:
    """Return a plan with another form of its answer; the database answers what is over a set."""
    return {**plan, **form, "kind": "documents" if form["intent"] in SETS else "passages"}


def shape_of(bucket: Bucket, question: str, decomposition: Decomposed, lead: Reading, today: date) -> Shape:
    """Return the form that a question's words ask for, as far as the bucket's fields allow it."""
    if decomposition.get("by") == "model":
        return _as_read(bucket, decomposition)
    bucket = understood(bucket, question)
    intent, aggregate = settle_intent(bucket, question, decomposition, lead)
    rank = read_rank(bucket, question)
    order: OrderBy | None = None
    if rank and rank.group is None:
        field = rank.field if rank.named else _bounded_field(bucket, lead) or rank.field
        order = {"field": field, "descending": rank.descending, "limit": rank.limit} if field else None
    if decomposition["intent"] == "summarize":
        return shape(intent, aggregate)
    made = _number(bucket, question, lead, rank, intent)
    if made is not None:
        intent, aggregate = "compute", made
    groups = read_groups(bucket, question) or compared_names(bucket, question, intent, lead)
    groups = [
        name
        for name in groups
        if aggregate["function"] != "share" and not _is_valued(bucket, question, name, lead)
    ]
    if groups and not (made and made.get("group_by")):
        asked = intent == "compute" or asks(question, "sum") or asks(question, "count")
        asked = asked or (lead["noun"] == "plural" and not cues.LIST.search(question) and not order)
        wanted = aggregate if aggregate["function"] != "none" else usual(bucket)
        if wanted["function"] == "distinct" and wanted["field"] in groups:  # "how many per colour"
            wanted = {"function": "count", "field": None}
        intent, aggregate = ("compute", wanted | {"group_by": groups}) if asked else (intent, aggregate)
    top = None if intent == "compare" or made else top_group(bucket, question)
    if top is None and not (made or groups) and intent != "compare":
        top = _costliest(bucket, question, lead) or (
            None if order else _counted_apiece(bucket, question, lead)
        )
    intent, aggregate, order = ("compute", top, None) if top else (intent, aggregate, order)
    said = number_said(question)
    read, changes = said.read, said.changes
    if intent == "compute" and aggregate["function"] == "none" and changes:
        aggregate = _compared_by(bucket, question, lead)
    sides = sides_asked(bucket, question, lead, aggregate["function"], today) if intent == "compute" else []
    many = lead["noun"] == "plural" or read == "change"
    if not sides and (intent == "compare" or changes) and (many or lead["asked"]):
        function = _compared_by(bucket, question, lead)
        # Two documents of which one is named each ("which runs longer, A or B") are read, not counted.
        counts = function["function"] != "count" or many
        sides = sides_asked(bucket, question, lead, function["function"], today) if counts else []
        intent, aggregate = ("compute", function) if sides else (intent, aggregate)
    if sides and not aggregate.get("top"):
        aggregate = {"function": aggregate["function"], "field": aggregate["field"], "sides": sides}
    without = lacks(lead["filters"], aggregate["field"])
    whole = shape("list", order=order) if without else shape(intent, aggregate, order)
    if read is not None and not sides and not aggregate.get("group_by"):
        whole = _as_tagged(bucket, question, lead, whole, read)
    intent, aggregate, order = whole["intent"], whole["aggregate"], whole["order_by"]
    if (
        order
        and order["limit"] != 1
        and not made
        and (aggregate["function"] in {"none", "max", "min"} or _only_orders(question, rank))
        and intent != "compare"
    ):
        return shape("list", order=order)
    if intent == "qa" and order and lead["noun"] and not names_one(bucket, lead):
        intent = "list"
    if intent == "qa" and which_one(bucket, question, lead):
        intent = "list"
    return shape(intent, aggregate, order)


def _only_orders(question: str, rank: Rank | None) -> bool:
    """Tell whether "total" only says by what so many are ranked: "all invoices, top 2 by total"."""
    ranked = rank is not None and rank.named and rank.limit > 1 and rank.text
    return bool(ranked) and not asks(question.partition(str(ranked))[0], "sum")


def _as_tagged(bucket: Bucket, question: str, lead: Reading, made: Shape, read: Intent) -> Shape:
    """Return a form as the tagger reads the question, where its words alone gave another one."""
    if read == "list" and unmentioned(question, lead["unused"], lead["terms"])[1]:
        return made if made["intent"] == "list" else shape("list", order=made["order_by"])
    if read not in NUMBERS | {"list"} or not (lead["filters"] or lead["noun"]):
        return made
    if not wants_documents(bucket, question, lead):
        return made
    # "Wie viel ist bei SN-5 offen?" counts nothing; "how many did Acme send?" does.
    listed = read == "list" and cues.EXISTENCE.search(question) is not None and not lead["asked"]
    if names_one(bucket, lead) and not (read == "count" and counts_documents(bucket, question)):
        return shape("list", order=made["order_by"]) if listed else made
    bound = {clause["field"] for clause in flat(lead["filters"])}
    if read == "list" and not bound.issuperset(lead["asked"]) and lead["noun"] != "plural":
        return made
    if read == "list":
        return made if made["intent"] == "list" else shape("list", order=made["order_by"])
    function = made["aggregate"]["function"]
    if read in {"max", "min"}:
        return made if made["order_by"] or function in {"max", "min"} else _endmost(bucket, lead, made, read)
    if made["intent"] == "compute" and function != "none":
        return made  # read with the tagger's function already
    if read in {"count", "distinct"}:
        counted = _counted(bucket, question)
        if counted or read == "count":
            function = "distinct" if counted else "count"
            return shape("compute", {"function": function, "field": counted.name if counted else None})
        return made
    if read == "group":
        each = values_asked(bucket, question)
        return shape("compute", {**usual(bucket), "group_by": [each.name]}) if each else made
    field = measured(bucket, question, read, lead) if read in {"sum", "average", "median"} else None
    return shape("compute", {"function": read, "field": field.name}) if field else made


def _costliest(bucket: Bucket, question: str, lead: Reading) -> WantedNumber | None:
    """Return the sum by those who are asked for, where an amount is spoken of and no document: "our most expensive vendor"."""
    tagged, span = tag_question(question).intent, asked_span(question)
    if (
        span is None
        or tagged not in {"max", "min"}
        or lead["noun"]
        or bucket.main_amount not in lead["asked"]
    ):
        return None
    field = values_asked(bucket, question[slice(*span)])
    if bucket.main_amount is None or field is None or field.name not in bucket.entity_fields:
        return None
    top = "most" if tagged == "max" else "least"
    return {"function": "sum", "field": bucket.main_amount, "group_by": [field.name], "top": top}


def _counted_apiece(bucket: Bucket, question: str, lead: Reading) -> WantedNumber | None:
    """Return a count by group that no "per" asks for: the most frequent values, or the periods in which documents lie."""
    periods = periods_asked(bucket, question) if lead["noun"] == "plural" else []
    if periods:
        return {"function": "count", "field": None, "group_by": periods}
    return _most_frequent(bucket, question, lead)


def _most_frequent(bucket: Bucket, question: str, lead: Reading) -> WantedNumber | None:
    """Return the count by the field of words that is asked for in a superlative: "die drei häufigsten Länder".

    Names have no greatest value, so the tagger's extreme of a field of words is the value that most documents have.
    """
    tagged, span = tag_question(question).intent, asked_span(question)
    if span is None or lead["noun"] != "plural" or tagged not in {"max", "min", "group"}:
        return None
    field = values_asked(bucket, question[slice(*span)])
    measure = field_asked(bucket, "max", lead)
    bound = {clause["field"] for clause in flat(lead["filters"])}
    if field is None or field.name in bucket.naming_fields or (measure and measure.name not in bound):
        return None
    limit = limit_before(bucket, question[max(0, span[0] - NEAR) : span[1]])
    made: WantedNumber = {"function": "count", "field": None, "group_by": [field.name]}
    if tagged == "group":
        return made
    made["top"] = "most" if tagged == "max" else "least"
    return {**made, "limit": limit} if limit > 1 else made


NEAR = 24
"""Characters before what is asked for in which its number stands: "the three most common"."""


def wants_documents(bucket: Bucket, question: str, lead: Reading) -> bool:
    """Tell whether what is wanted is known to a bucket: its documents, or what it has a field for; not labs or downloads."""
    span = asked_span(question)
    if span is None or lead["noun"] == "plural":
        return True
    return asks_for_kind(bucket, question, lead) or set(lead["terms"]).isdisjoint(
        terms.words(question[slice(*span)])
    )


def asks_for_kind(bucket: Bucket, question: str, lead: Reading) -> bool:
    """Tell whether what is wanted is named by a kind of document that became a condition ("which errata sheets ...")."""
    span = asked_span(question)
    kinds = [
        str(clause.get("raw", ""))
        for clause in flat(lead["filters"])
        if (held := bucket.field(clause["field"])) and held.canonical
    ]
    return span is not None and any(find_phrase(question[slice(*span)], kind) for kind in kinds)


def which_one(bucket: Bucket, question: str, lead: Reading) -> bool:
    """Tell whether nothing but the document that has a number or the beginning of one is wanted: "which root is that?"."""
    span = asked_span(question)
    numbers = {item.name for item in bucket.fields if item.kind == "identifier"}
    bound = {clause["field"] for clause in flat(lead["filters"])}
    wanted = set(terms.words(question[slice(*span)])) if span else set()
    nouns = {word for noun in bucket.nouns for word in terms.words(noun)}
    return bool(wanted) and wanted <= nouns and bool(bound & numbers) and bound >= set(lead["asked"])


def names_one(bucket: Bucket, lead: Reading) -> bool:
    """Tell whether a condition holds the title or the number of one document, and no plural asks for more."""
    named = {clause["field"] for clause in flat(lead["filters"]) if clause.get("operator") == "="}
    return lead["noun"] != "plural" and not bucket.naming_fields.isdisjoint(named)


def _counted(bucket: Bucket, question: str) -> Field | None:
    """Return the field whose different values are counted: its word is what is asked for, and no word for documents is."""
    span = asked_span(question)
    asked = question[slice(*span)] if span else question
    documents = any(find_phrase(asked, noun) for noun in bucket.nouns)
    return None if documents else values_asked(bucket, asked)


def _endmost(bucket: Bucket, lead: Reading, made: Shape, read: Intent) -> Shape:
    """Return the list of the one document with the greatest or smallest value of the field that is named.

    Where none is named it stays as it was: "over soonest" is not by the date that documents are usually ordered by.
    """
    field = field_asked(bucket, read, lead)
    if field is None:
        return made
    return shape("list", order={"field": field.name, "descending": read == "max", "limit": 1})


def _as_read(bucket: Bucket, decomposition: Decomposed) -> Shape:
    """Return the form that a model read; what is computed over is bound by `schema_plan`, or is the main amount."""
    wanted = decomposition.get("aggregate", "none")
    if decomposition["intent"] != "compute" or wanted == "none":
        return shape("qa" if decomposition["intent"] == "compute" else decomposition["intent"])
    if wanted == "count":
        return shape("compute", {"function": "count", "field": None})
    if not bucket.main_amount or wanted == "share":  # of what, only the plan's model can bind
        return shape("qa")
    return shape("compute", {"function": wanted, "field": bucket.main_amount})


def _is_valued(bucket: Bucket, question: str, group: str, lead: Reading) -> bool:
    """Tell whether a value follows a field's word, which then groups nothing: "governed by the law of Delaware"."""
    declared = bucket.field(group)
    starts = [
        question.find(said)
        for clause in flat(lead["filters"])
        if clause.get("field") == group
        for said in str(clause.get("raw", "")).split("; ")
    ]
    return declared is not None and any(
        0 <= start - end <= VALUED
        for word in declared.words
        for _, end in find_phrase(question, word)
        for start in starts
    )


VALUED = 15
"""Characters between a field's word and its value."""


def _bounded_field(bucket: Bucket, lead: Reading) -> str | None:
    """Return the number that a condition bounds: "trials with over 300 patients, largest first" are ordered by it."""
    bounds = {"<", "<=", ">", ">=", "between"}
    named = [str(clause["field"]) for clause in flat(lead["filters"]) if clause.get("operator") in bounds]
    return next((name for name in named if (item := bucket.field(name)) and item.type in COMPUTED), None)


def usual(bucket: Bucket) -> WantedNumber:
    """Return the number of groups that nothing else is said of: their amount, else how many documents."""
    return {"function": "sum" if bucket.main_amount else "count", "field": bucket.main_amount}


def _compared_by(bucket: Bucket, question: str, lead: Reading) -> WantedNumber:
    """Return the number by which sets of documents are compared: "who has more advisories" counts them."""
    money = MONEY.search(question) or asks(question, "sum") or bucket.main_amount in lead["asked"]
    if bucket.main_amount and money and not asks(question, "count"):
        return {"function": "sum", "field": bucket.main_amount}
    return {"function": "count", "field": None}


def _number(
    bucket: Bucket, question: str, lead: Reading, rank: Rank | None, intent: str
) -> WantedNumber | None:
    """Return a number that the main amount alone does not give: shares, days, other fields, groups in an order."""
    one = lead["named"] and lead["noun"] != "plural"
    if rank is not None and rank.limit != 1 and rank.group is None:
        return None
    if share := share_asked(bucket, question, lead):
        return share
    if spread := spread_asked(bucket, question, lead):
        return spread
    function = number_said(question).function
    if rank is not None and rank.group is not None and (rank.limit > 1 or rank.field):
        top = "most" if rank.descending else "least"
        return {**_ranked(bucket, question), "group_by": [rank.group], "top": top, "limit": rank.limit}
    days = days_asked(bucket, question)
    if days and not one and (lead["noun"] == "plural" or function in {"average", "median", "max", "min"}):
        return {"function": function if function not in {"none", "count"} else "average", "field": days}
    if function == "count" and (amount := amount_counted(bucket, question)) and not one:
        return {"function": "sum", "field": amount}
    if function == "count" and (each := groups_counted(question, lead)):
        return {"function": "count", "field": None, "group_by": [each]}
    if function == "count" and not lead["identifiers"] and (counted := values_counted(bucket, question)):
        return {"function": "distinct", "field": counted}
    group = group_listed(bucket, question)
    if kept := groups_kept(bucket, question, group):
        summed = kept["column"].startswith("sum_")
        number: WantedNumber = (
            {"function": "sum", "field": bucket.main_amount}
            if summed
            else {"function": "count", "field": None}
        )
        return {**number, "group_by": [str(group)], "having": kept}
    if function == "none" and (amount := sum_asked(bucket, question, lead)):
        return {"function": "sum", "field": amount}
    if function in {"average", "median", "max", "min", "sum"} and not one:
        field = field_asked(bucket, function, lead)
        many = lead["noun"] == "plural" or (function in {"average", "median"} and not lead["names"])
        other = field is not None and field.name != bucket.main_amount
        if field is not None and many and (other or function == "median") and not lead["names"]:
            return {"function": function, "field": field.name}
        if function == "median" and bucket.main_amount and many:
            return {"function": "median", "field": bucket.main_amount}
    return None


def _ranked(bucket: Bucket, question: str) -> WantedNumber:
    """Return by what groups are ranked: the number of their documents where that is said, else their amount."""
    counts = pattern("along", after=rf"\s+(?:{alternation('asking', 'number_of')})\b").search(question)
    if counts or not bucket.main_amount:
        return {"function": "count", "field": None}
    return {"function": "sum", "field": bucket.main_amount}
