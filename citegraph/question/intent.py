"""What a question wants, by its words and then by a bucket's schema: a value, a list, or a number over many documents."""

import itertools
import re

from citegraph.corpus.schema.bucket import Bucket
from citegraph.encoder.multilingual import Intent as Tagged
from citegraph.encoder.multilingual import surely_lists
from citegraph.language import terms
from citegraph.language.word_tables import alternation, pattern
from citegraph.question import cues
from citegraph.question.answer_form import has_measure
from citegraph.question.functions import asks, billing, counted_at, counting, function_of, number_said
from citegraph.question.measures import asking, plain
from citegraph.question.phrases import PLURAL, document_words, find_phrase
from citegraph.run.state_types import Decomposed, Intent, Reading, WantedNumber

AS_READ: dict[Tagged, tuple[Intent, str]] = {
    "compare": ("compare", "none"),
    "summarize": ("summarize", "none"),
    "count": ("compute", "count"),
    "distinct": ("compute", "count"),
    "sum": ("compute", "sum"),
    "average": ("compute", "average"),
    "median": ("compute", "median"),
}
"""Intent and aggregate of what the tagger reads. What lists, extremes, shares, changes and groups are of, and whether a
number is a fact of one document, the schema says (`citegraph/plan/shape.py`).
"""


def classify(question: str) -> tuple[Intent, str]:
    """Return the intent and the aggregate ("none" unless the question computes one): the tagger's where it is sure.

    Two sides of which one is asked for are compared, whatever is counted about them; what was spent is no count.
    """
    read, said = number_said(question).read, said_by_words(question)
    words = said[0] == "compare" or (read == "count" and said[1] == "sum")
    return AS_READ.get(read, said) if read and not words else said


def said_by_words(question: str) -> tuple[Intent, str]:
    """Return the intent and the aggregate that the words of a question say."""
    question = plain(asking(question))
    if cues.SUMMARIZE.search(question):
        return "summarize", "none"
    aggregate = function_of(question)
    aggregate = "none" if aggregate == "share" else aggregate  # the schema says of what
    # "2019 or later" compares nothing.
    chosen = pattern("or", after=rf"\s+{cues.COMPARATIVE.pattern}").sub(" ", question)
    chooses = cues.CHOICE.search(question) and cues.COMPARATIVE.search(chosen)
    if chooses or (cues.COMPARE.search(question) and aggregate in {"none", "max", "min"}):
        return "compare", "none"
    if aggregate != "none":
        return "compute", aggregate
    if cues.LIST.search(question):
        return "list", "none"
    return "qa", "none"


def settle_intent(
    bucket: Bucket, question: str, decomposition: Decomposed, lead: Reading
) -> tuple[str, WantedNumber]:
    """Return the intent and the aggregate that the schema allows.

    An amount is only summed where the bucket has a main amount; "how many" counts documents only when the
    bucket's documents are what is counted; a plural of the documents without a question for a value is a list.
    """
    intent, wanted = decomposition["intent"], decomposition.get("aggregate", "none")
    plural = lead["noun"] == "plural"
    nothing: WantedNumber = {"function": "none", "field": None}
    if intent == "compute":
        if wanted == "count":
            return (
                ("compute", {"function": "count", "field": None})
                if counts_documents(bucket, question) or (lead["noun"] and said_count(question))
                else ("qa", nothing)
            )
        if wanted != "share" and bucket.main_amount and sums_amounts(bucket, question, wanted, lead):
            name = next(
                (name for name in lead["asked"] if (found := bucket.field(name)) and found.type == "money"),
                bucket.main_amount,
            )
            return "compute", {"function": wanted, "field": name}
        intent = "qa"
    here = cues.EXISTENCE.search(question) is not None and not lead["terms"]
    sure = surely_lists(question) and (bool(lead["filters"] and lead["noun"]) or has_measure(question))
    if intent == "qa" and (
        sure
        or (plural and not asks_value(bucket, question, lead))
        or (lead["filters"] and (names_many(bucket, question) or cues.WHOLE.search(question) or here))
    ):
        intent = "list"
    told = asks_value(bucket, question, lead) or len(lead["terms"]) >= SAID
    listed = decomposition["intent"] == intent == "list" and not plural and not cues.WHOLE.search(question)
    if listed and not sure and (not lead["filters"] or told):
        intent = "qa"  # "how much does A get each June", "give me the name of whoever keeps the key of B"
    if (
        intent == "qa"
        and lead["noun"]
        and lead["filters"]
        and not asks_value(bucket, question, lead)
        and not lead["terms"]
    ):
        intent = "list"
    return intent, nothing


SAID = 3
"""Words that no condition took from which a question about one document asks for what it says."""


def counts_documents(bucket: Bucket, question: str) -> bool:
    """Tell whether "how many" counts the bucket's documents: one of their names follows, or nothing else does."""
    place = counted_at(question)
    if place is None:
        return False
    after = question[place : place + 60]
    cut = pattern("helping", "be", "states", before=r"[?,.;:]|").search(after)
    head = after[: cut.start()] if cut else after
    if _begins_with_amount(bucket, head.lstrip()):
        return False  # "hoeveel BTW staat op factuur 12"
    if any(is_head(head, start) for noun in document_words(bucket) for start, _ in find_phrase(head, noun)):
        return True
    left = pattern("sum", "total").sub("", head).strip()
    before = any(find_phrase(question[:place], noun) for noun in bucket.nouns)
    return not left and (before or not head.strip())


def _begins_with_amount(bucket: Bucket, phrase: str) -> bool:
    amounts = (declared for declared in bucket.fields if declared.type == "money")
    words = (word for declared in amounts for word in declared.words)
    return any(start == 0 for word in words for start, _ in find_phrase(phrase, word))


def is_head(phrase: str, place: int) -> bool:
    """Tell whether the word at a place is what a phrase is about: "of the late invoices", not "days before the invoice"."""
    before = terms.words(phrase[:place])
    telling = list(itertools.dropwhile(lambda word: word in terms.stop_words("grammar"), before))
    return not any(word in terms.stop_words("grammar") for word in telling)


def said_count(question: str) -> bool:
    """Tell whether a count is asked for by that very word, which a kind of document may stand beside ("count the slips")."""
    said = [question[start:end] for start, end in counting(question)]
    return any(re.search(r"\bcount\b", words, re.IGNORECASE) for words in said)


_ASKS_WHO_OR_WHEN = re.compile(rf"\b(?:{alternation('asking', 'asks_who_or_when')})\b", re.IGNORECASE)


def sums_amounts(bucket: Bucket, question: str, wanted: str, lead: Reading) -> bool:
    """Tell whether a sum, average or extreme over the bucket's main amount is asked for.

    "Total of the invoice" and a total beside a number of a document name a value of one document; "of the invoices",
    "spend" and a total of somebody's, or of a period, ask for a sum.
    """
    amount = bucket.field(bucket.main_amount or "")
    if amount is None or _ASKS_WHO_OR_WHEN.search(question):
        return False
    if wanted in {"average", "median", "min", "max"}:
        return (
            lead["noun"] != "" or any(name == amount.name for name in lead["asked"]) or bool(lead["filters"])
        )
    spends = pattern("sum").search(question) is not None or next(billing(question), None) is not None
    if lead["noun"] == "plural":
        return bool(lead["filters"]) or spends or pattern("total").search(question) is not None
    coded = any(
        (held := bucket.field(clause.get("field", ""))) is not None and held.kind == "identifier"
        for clause in lead["filters"]
    )
    return bool(lead["filters"]) and not (coded or lead["identifiers"]) and (spends or not lead["noun"])


_GENERAL_THINGS = re.compile(rf"\b(?:{alternation('asking', 'general_things')})\b", re.IGNORECASE)
_AFTER_WHAT_IS_ASKED = re.compile(rf"\b(?:{alternation('asking', 'after_what_is_asked')})\b")
_BEGINS_WITH_OF = re.compile(rf"(?:{alternation('asking', 'of')})\b")


def asks_value(bucket: Bucket, question: str, lead: Reading) -> bool:
    """Tell whether the question wants a value out of a document rather than the documents."""
    if any(interrogative(question, match) for match in pattern("asks_how", "asks_whom").finditer(question)):
        return True
    match = cues.WHICH.search(question)
    if not match:
        filtered = {clause.get("field") for clause in lead["filters"]}
        return any(name not in filtered for name in lead["asked"]) and lead["noun"] != "plural"
    after = question[match.end() :].strip()
    if cues.EXISTENCE.match(after):
        return False  # "what do we have from A", "hosting deals, which do we have?"
    head = _AFTER_WHAT_IS_ASKED.split(after)[0]
    if _BEGINS_WITH_OF.match(after) or names_documents(bucket, head):
        return False
    generic = _GENERAL_THINGS.search(head)
    return not generic


def names_many(bucket: Bucket, question: str) -> bool:
    """Tell whether a question asks which of the things that documents are known by: "which products", "welche Lieferanten"."""
    match = cues.WHICH.search(question)
    rest = question[match.end() :].lstrip() if match else ""
    return any(
        is_led(rest[:start])
        and rest[start:end].lower() != word.lower()
        and PLURAL.search(rest[start:end].lower())
        for name in bucket.entity_fields
        if (declared := bucket.field(name)) is not None
        for word in declared.called
        for start, end in find_phrase(rest, word)[:1]
    )


_NAMES = re.compile(r"(?:(?-i:[A-ZÀ-Þ0-9])[\w&.]*(?:-[\w&.]+)*[\s-]+){0,3}")


def is_led(words: str) -> bool:
    """Tell whether nothing but names and small words stand before a noun: "which ARNWICK products", "welche dieser Produkte"."""
    if _NAMES.fullmatch(words):
        return True
    return all(word in terms.stop_words("grammar") for word in terms.words(words))


ATTRIBUTE = re.compile(rf"^\s*(?:{alternation('asking', 'attribute')})\b", re.IGNORECASE)


def interrogative(question: str, match: re.Match[str]) -> bool:
    """Tell whether a word asks; behind a noun it only relates ("agreements where Arnwick is no party")."""
    before = re.search(r"([^\W_]+)\s+$", question[: match.start()])
    relates = before is not None and terms.bare(before[1]) not in terms.stop_words()
    return not relates or pattern("asks_how").fullmatch(match.group()) is not None


def names_documents(bucket: Bucket, head: str) -> bool:
    """Tell whether the words after "which" name the bucket's documents, and not an attribute of one.

    "Certificate id", "the total on invoice 7".
    """
    return any(
        not ATTRIBUTE.match(head[end:]) and is_head(head, start)
        for noun in bucket.nouns
        for start, end in find_phrase(head, noun)
        if start <= 30
    )


def compared_names(bucket: Bucket, question: str, intent: str, lead: Reading) -> list[str]:
    """Return the field to group by when several names are compared by a number over their documents.

    "Compare the totals of A and B invoices" is one sum a name, not one over both.
    """
    if (
        not cues.COMPARE.search(question)
        or lead["noun"] != "plural"
        or not (asks(question, "sum") or asks(question, "count"))
    ):
        return []
    several = [
        clause["field"]
        for clause in lead["filters"]
        if clause.get("operator") == "in" and clause["field"] in bucket.entity_fields
    ]
    declared = bucket.field(several[0]) if several else None
    return several[:1] if declared is not None and declared.type == "keyword" else []
