"""Numbers of a claim held against the fields in which a document has them: the net amount may not be called the total."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from citegraph.citations.fact_matching import View, facts_agree
from citegraph.citations.facts import Fact, hard_facts
from citegraph.language.claim_tokens import content_stems
from citegraph.language.word_tables import listed


@dataclass(frozen=True, slots=True)
class FieldNumber:
    """A field's number, and the stems of the field's name."""

    name: str
    stems: frozenset[str]
    fact: Fact


def numbers_of(annotations: Mapping[str, str]) -> tuple[FieldNumber, ...]:
    """Return the fields whose values are one number each, with their unit or currency."""
    found = []
    for name, value in annotations.items():
        facts = hard_facts(value, False)
        if len(facts) == 1 and facts[0].kind == "number":
            said = name.replace("_", " ")
            found.append(FieldNumber(said, frozenset(content_stems(said)), facts[0]))
    return tuple(found)


_DOCUMENTS = frozenset(content_stems(" ".join(listed("statements", "documents"))))


def says_only_values(claim: View, known: frozenset[str]) -> bool:
    """Return whether a claim speaks of the document and its fields alone.

    Another does not name its field for sure: in "VAT on the net amount is 380.00" it is "VAT" that does.

    Args:
        known: stems of the document's id and of its fields, names and values.
    """
    return claim.stem_set <= known | _DOCUMENTS


def exchanged(claim: View, numbers: Sequence[FieldNumber]) -> str:
    """Return how the claim gives one field's number to another field that it names, "" when it does not."""
    stated = [fact for fact in claim.facts if fact.kind == "number"]
    # A field whose own number the claim gives is named for that one.
    others = [item for item in numbers if not any(facts_agree(fact, item.fact, "") for fact in stated)]
    for fact in stated if others else ():
        holders = [item for item in numbers if facts_agree(fact, item.fact, "")]
        for other in others:
            if holders and all(_names(claim, other, item) for item in holders):
                value = " ".join(fact.text.split()).rstrip(".")
                return f'"{value}" is the {holders[0].name}; the {other.name} is {other.fact.text}'
    return ""


def _names(claim: View, other: FieldNumber, holder: FieldNumber) -> bool:
    """Return whether a claim speaks of one field and not of another."""
    own = (other.stems - holder.stems) or other.stems
    return own <= claim.stem_set and not (holder.stems - other.stems) & claim.stem_set
