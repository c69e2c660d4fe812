"""The field of a bucket's declaration and the typed values that it can hold."""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from functools import cached_property
from itertools import islice
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, model_validator
from pydantic import Field as Declared

from citegraph.corpus.schema.extract_rules import ExtractRule
from citegraph.language.amounts import Money, Quantity
from citegraph.language.date_order import DateOrder
from citegraph.language.terms import fold

FieldType = Literal[
    "text", "keyword", "keywords", "integer", "decimal", "money", "date", "boolean", "quantity"
]
Kind = Literal["organization", "person", "product", "country", "jurisdiction", "identifier", "version"]


Value = str | int | float | bool | date | Money | Quantity | tuple[str, ...]


def _regex(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from error
    return pattern


Regex = Annotated[str, AfterValidator(_regex)]
Name = Annotated[str, Declared(pattern=r"^[a-z][a-z0-9_]{0,40}$")]


MOST_FOUND = 20
"""Values that a rule gives a field of several values."""


class TextRule(BaseModel):
    """A pattern over the document's text that gives a value where no annotation does, all of them to a list of keywords.

    Attributes:
        pattern: regular expression, case-insensitive, `.` does not match a line end.
        value: the value when the pattern is found; empty: the first group of the match.
        unless: when this pattern is found too, the rule does not apply.
        within: characters of the text, from its start, that are looked at; 0 is the whole text.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    pattern: Regex
    value: str = ""
    unless: Regex | None = None
    within: int = Declared(1500, ge=0)

    def find(self, text: str) -> str | None:
        """Return the raw value that the rule finds in a document's text, or None."""
        return next(self._found(text), None)

    def find_all(self, text: str) -> list[str]:
        """Return the different raw values that the rule finds, in their order, at most `MOST_FOUND`."""
        return list(dict.fromkeys(islice(self._found(text), 10 * MOST_FOUND)))[:MOST_FOUND]

    def _found(self, text: str) -> Iterator[str]:
        head = text[: self.within] if self.within else text
        if self.unless and re.search(self.unless, head, re.IGNORECASE | re.MULTILINE):
            return
        for found in re.finditer(self.pattern, head, re.IGNORECASE | re.MULTILINE):
            yield self.value or found.group(1 if found.re.groups else 0)


class Field(BaseModel):
    """One field of a bucket.

    Attributes:
        columns: names of annotation columns that hold it, besides its own name.
        words: words and phrases by which people mean the field in a question.
        unit: unit of a quantity (pint's names) or what an integer counts.
        currency: ISO 4217 code that a money amount has when neither the value nor the row says one.
        currency_field: field of the same row that says a money amount's currency.
        values: canonical value -> codes and surface forms that mean it.
        kind: what the values name; says how mentions of them are linked.
        date_order: how an ambiguous numeric date is read; default: the bucket's.
        clean: regular expression whose matches are removed from each value.
        split: regular expression that cuts one string into a list's values.
        item_key: key to take where the list holds objects.
        from_text: patterns that give a value where neither an annotation nor `extract` does.
        extract: where the value stands in a document, the surest way first.
        first_of: fields of which the first present one gives the value when no column does.
        empty: what an empty list says: `unknown` (the field is missing) or `none` (known to hold nothing).
        facet: whether its values are worth offering when a set is too large to list.
        relax: place in the order in which inferred clauses are given up, lower first.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", coerce_numbers_to_str=True, ignored_types=(cached_property,)
    )

    name: Name
    type: FieldType
    description: str
    columns: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    unit: str | None = None
    currency: Annotated[str, Declared(pattern="^[A-Z]{3}$")] | None = None
    currency_field: Name | None = None
    examples: tuple[str, ...] = ()
    values: Mapping[str, tuple[str, ...]] = Declared(default_factory=dict)
    kind: Kind | None = None
    date_order: DateOrder | None = None
    clean: Regex | None = None
    split: Regex | None = None
    item_key: str | None = None
    from_text: tuple[TextRule, ...] = ()
    extract: tuple[ExtractRule, ...] = ()
    first_of: tuple[Name, ...] = ()
    empty: Literal["unknown", "none"] = "unknown"
    facet: bool = True
    relax: int = 50

    @property
    def aliases(self) -> tuple[str, ...]:
        """Return every other name of the field: columns and words."""
        return self.columns + self.words

    @property
    def is_string(self) -> bool:
        """Return whether the values are strings (text, keyword, list of keyword)."""
        return self.type in ("text", "keyword", "keywords")

    @property
    def is_listed(self) -> bool:
        """Return whether distinct values are kept with counts, for linking and facets."""
        return self.type in ("keyword", "keywords")

    @cached_property
    def canonical(self) -> Mapping[str, str]:
        """Return folded surface form -> canonical value, for the declared values."""
        forms = {fold(value): value for value in self.values}
        for value, synonyms in self.values.items():
            for form in synonyms:
                forms.setdefault(fold(form), value)
        return forms

    @model_validator(mode="after")
    def _consistent(self) -> "Field":
        if self.unit and self.type not in ("quantity", "integer", "decimal"):
            raise ValueError(f"unit belongs to a quantity, integer or decimal, not to {self.type}")
        if self.type == "quantity" and not self.unit:
            raise ValueError("a quantity needs a unit")
        if (self.currency or self.currency_field) and self.type != "money":
            raise ValueError(f"currency belongs to money, not to {self.type}")
        if self.values and not self.is_string:
            raise ValueError(f"values belong to text, keyword or keywords, not to {self.type}")
        return self
