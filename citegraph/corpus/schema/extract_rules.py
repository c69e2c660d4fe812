"""How a bucket's declaration says where a field's value stands in a document."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

Method = Literal["embedded", "keys", "labels", "pattern", "head", "parties", "years_between"]
METHODS: tuple[Method, ...] = (
    "embedded",
    "keys",
    "labels",
    "pattern",
    "head",
    "parties",
    "years_between",
)

Head = Literal[
    "organization",
    "title",
    "heading",
    "part",
    "seller",
    "buyer",
    "day",
    "writer",
    "holder",
    "language",
    "kind",
]

CONFIDENCE: dict[str, float] = {
    "embedded": 0.99,
    "keys": 0.97,
    "years_between": 0.95,
    "pattern": 0.85,
    "labels": 0.8,
    "parties": 0.75,
    "head": 0.65,
}
"""How far each way is trusted when nothing agrees with it or contradicts it; a rule may say otherwise."""


def compiled(pattern: str) -> str:
    """Return the pattern when it is a regular expression.

    Raises:
        ValueError: it is none; the message says where it breaks.
    """
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from error
    return pattern


Pattern = Annotated[str, AfterValidator(compiled)]


class ExtractRule(BaseModel):
    """One way to find a field's value; exactly one of the first seven attributes is set.

    Attributes:
        embedded: business terms of EN 16931 ("BT-1") in the XML that an electronic invoice carries.
        keys: names in front matter (YAML, TOML) or in a table of properties that came with the file.
        labels: phrases that stand before the value or above it, the surest first.
        pattern: regular expression; group 1 is the value when there is one.
        head: what the first lines name: the issuing `organization`, or the `title`; the `heading` that is printed largest
            there, or the `part` number that it is about; the `seller` or the `buyer` of
            an invoice, wherever it names them; the `day` that the head bears and the `writer` beside it; the `holder`
            of a certificate; the `language` that the text is written in; the `kind` of document, a declared value, that
            the title says.
        parties: the names in an opening like "between A and B", after one of these phrases.
        roles: give each of the parties with the role, or short name, that the contract gives it, and no party without one.
        years_between: two date fields of the bucket; the value is the years from one to the other.
        value: the value when a pattern is found, instead of its group.
        unless: a label or pattern does not count on a line, up to its end, where this is found.
        then: what has to follow the value of a label, such as "from the date".
        within: characters from the start of the text that are looked at; negative: from its end; 0: all.
        reach: characters after a label in which the value has to begin.
        prose: whether a label stands in running text, so that its value may be on the next line; else, as on a
            form, it begins a cell and its value stands on the same line, or beneath when nothing does.
        take: which of several places gives the value, or `most`: the value that most of them give;
            `all` for a list.
        confidence: 0 to 1; default: that of the way.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    embedded: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    pattern: Pattern | None = None
    head: Head | None = None
    parties: tuple[str, ...] = ()
    roles: bool = False
    years_between: tuple[str, ...] = ()
    value: str = ""
    unless: Pattern | None = None
    then: Pattern | None = None
    within: int = 0
    reach: int = Field(60, ge=1, le=2000)
    prose: bool = False
    take: Literal["first", "last", "most", "largest", "all"] = "first"
    confidence: float | None = Field(None, ge=0, le=1)

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


class Sum(BaseModel):
    """Money fields that add up: the total, and the net amount and the tax that it is of."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    total: str
    of: tuple[str, str]
