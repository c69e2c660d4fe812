"""The field of a bucket's declaration and the typed values that it can hold."""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from functools import cached_property
from itertools import islice
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, model_validator
from pydantic import Field as Declared

from citegraph.language.amounts import Money, Quantity
from citegraph.language.date_order import DateOrder
from citegraph.language.terms import fold

Method = Literal[
    "embedded", "keys", "labels", "pattern", "head", "parties", "years_between", "question", "choice"
]
METHODS: tuple[Method, ...] = get_args(Method)

Role = Literal["maker", "receiver", "party", "number", "title", "product", "standard", "day", "amount"]
Head = Literal[
    "organization",
    "title",
    "heading",
    "number",
    "part",
    "seller",
    "buyer",
    "day",
    "signing",
    "begin",
    "end",
    "last_day",
    "writer",
    "holder",
    "certifier",
    "law",
    "language",
    "kind",
    "addressee",
    "signer",
    "publisher",
    "running_day",
]

CONFIDENCE: dict[str, float] = {
    "embedded": 0.99,
    "keys": 0.97,
    "years_between": 0.95,
    "pattern": 0.85,
    "labels": 0.8,
    "parties": 0.75,
    "head": 0.65,
    "question": 0.6,
    "choice": 0.79,
}
"""How far each way is trusted when nothing agrees with it or contradicts it; a rule may say otherwise."""


def _regex(pattern: str) -> str:
    """Return the pattern when it is a regular expression.

    Raises:
        ValueError: it is none; the message says where it breaks.
    """
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from error
    return pattern


Regex = Annotated[str, AfterValidator(_regex)]
Name = Annotated[str, Declared(pattern=r"^[a-z][a-z0-9_]{0,40}$")]


class ExtractRule(BaseModel, frozen=True, extra="forbid"):
    """One way to find a field's value; exactly one of those that say how is set.

    Attributes:
        embedded: business terms of EN 16931 ("BT-1") in the XML that an electronic invoice carries.
        keys: names in front matter (YAML, TOML) or in a table of properties that came with the file.
        labels: phrases that stand before the value or above it, the surest first.
        pattern: regular expression; group 1 is the value when there is one.
        head: what the first lines name: the issuing `organization`, or the `title`; the `heading` that is printed largest
            there, the `number` behind what the document is called, or the `part` number that it is about; the `seller` or the `buyer` of
            an invoice, wherever it names them; the `day` that the head bears and the `writer` beside it; the day of `signing` that stands beside a place; the `begin` and the `end` of the only range of days; the `addressee` and the `signer` of a letter; the `publisher` and the `running_day` that a running head names; the `holder`
            of a certificate and its `certifier`, who issued it; the `language` that the text is written in; the `kind` of document, a declared value, that
            the title says.
        parties: the names in an opening like "between A and B", after one of these phrases.
        roles: give each of the parties with the role, or short name, that the contract gives it, and no party without one.
        years_between: two date fields of the bucket; the value is the years from one to the other.
        question: what the finder is asked of the first page, where no other rule finds a value; a name counts where the text
            goes on to say it, always large.
        choice: what the field is to the document: who made it (`maker`) or is meant by it (`receiver`), a `party` to it, its own
            `number`, `title` or `product`, a `standard` that it names, its `day` or `amount`; chosen among all of these by learned signs.
        value: the value when a pattern is found, instead of its group.
        unless: a label or pattern does not count on a line, up to its end, where this is found.
        then: what has to follow the value of a label, such as "from the date".
        within: characters from the start of the text that are looked at; negative: from its end; 0: all.
        reach: characters after a label in which the value has to begin.
        prose: whether a label stands in running text, so that its value may be on the next line; else, as on a
            form, it begins a cell and its value stands on the same line, or beneath when nothing does.
        colon: whether a label counts only with a colon behind it.
        listed: whether the lines beneath a label that has its line to itself are the values of a list, one each.
        take: which of several places gives the value, or `most`: the value that most of them give;
            `all` for a list.
        confidence: 0 to 1; default: that of the way.
    """

    embedded: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    pattern: Regex | None = None
    head: Head | None = None
    parties: tuple[str, ...] = ()
    roles: bool = False
    years_between: tuple[str, ...] = ()
    question: str = ""
    choice: Role | None = None
    value: str = ""
    unless: Regex | None = None
    then: Regex | None = None
    within: int = 0
    reach: int = Declared(60, ge=1, le=2000)
    prose: bool = False
    colon: bool = False
    listed: bool = False
    take: Literal["first", "last", "most", "largest", "all"] = "first"
    confidence: float | None = Declared(None, ge=0, le=1)

    @property
    def method(self) -> Method:
        """Return which of the ways this rule is."""
        return next(name for name in METHODS if getattr(self, name))

    @property
    def trust(self) -> float:
        """Return the confidence of a value that this rule alone finds."""
        return CONFIDENCE[self.method] if self.confidence is None else self.confidence

    @model_validator(mode="after")
    def _one_way(self) -> "ExtractRule":
        ways = [name for name in METHODS if getattr(self, name)]
        if len(ways) != 1:
            raise ValueError(f"a rule needs exactly one of {', '.join(METHODS)}; it has {len(ways)}")
        if self.years_between and len(self.years_between) != 2:
            raise ValueError("years_between names two date fields")
        return self


class Sum(BaseModel, frozen=True, extra="forbid"):
    """Money fields that add up: the total, and the net amount and the tax that it is of."""

    total: str
    of: tuple[str, str]


FieldType = Literal[
    "text", "keyword", "keywords", "integer", "decimal", "money", "date", "boolean", "quantity"
]
Kind = Literal["organization", "person", "product", "country", "jurisdiction", "identifier", "version"]


Value = str | int | float | bool | date | Money | Quantity | tuple[str, ...]


MOST_FOUND = 20
"""Values that a rule gives a field of several values."""


class TextRule(BaseModel, frozen=True, extra="forbid"):
    """A pattern over the document's text that gives a value where no annotation does, all of them to a list of keywords.

    Attributes:
        pattern: regular expression, case-insensitive, `.` does not match a line end.
        value: the value when the pattern is found; empty: the first group of the match.
        unless: when this pattern is found too, the rule does not apply.
        within: characters of the text, from its start, that are looked at; 0 is the whole text.
        beside: the field whose value tells which of several is meant: the one alone in a sentence with it, else none is.
    """

    pattern: Regex
    value: str = ""
    unless: Regex | None = None
    within: int = Declared(1500, ge=0)
    beside: Name | None = None

    def find(self, text: str) -> str | None:
        """Return the raw value that the rule finds in a document's text, or None."""
        return next(self._found(text), None)

    def find_beside(self, text: str, named: str) -> str | None:
        """Return the only raw value that the rule finds in the text, else the only one of a sentence that begins a name."""
        found = dict.fromkeys(map(str.casefold, self.find_all(text)))
        if len(found) < 2 or not named:
            return self.find(text) if len(found) == 1 else None
        head = text[: self.within] if self.within else text
        # A line in capitals is a heading, or a row of a table.
        for sentence in re.split(r"(?m)(?<=[a-z)])[.;]\s|\n\s*\n|^[^a-z\n]+$", head):
            raws = self.find_all(sentence) if re.search(rf"(?<!\w){re.escape(named)}", sentence) else []
            if len({raw.casefold() for raw in raws}) == 1:
                return raws[0]
        return None

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
        past: words that say that a date lies before today ("expired", "overdue").
        future: words that say that a date does not lie before today ("still valid").
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
    past: tuple[str, ...] = ()
    future: tuple[str, ...] = ()
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
    def called(self) -> tuple[str, ...]:
        """Return how questions call the field: its words, then its name."""
        return (*self.words, self.name.replace("_", " "))

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
        if (self.past or self.future) and self.type != "date":
            raise ValueError(f"past and future belong to a date, not to {self.type}")
        if self.values and not self.is_string:
            raise ValueError(f"values belong to text, keyword or keywords, not to {self.type}")
        return self
