"""How a bucket's declaration says which tables inside its documents are kept row by row."""

from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator

from citegraph.corpus.schema.field import Field, Name


class Product(BaseModel):
    """Columns of a row of which the last is the product of the others: it proves them all."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    of: tuple[Name, Name]
    gives: Name


class RowKind(BaseModel):
    """One kind of rows: the lines of an invoice, the ratings of a part.

    Attributes:
        words: words and phrases by which people mean such rows.
        fields: the columns; `columns` of a field are the heads under which it is printed, `extract` of it may name
            the business terms of electronic invoices.
        named_by: the column that says what a row is about; a row without it goes on with the one above.
        needs: columns of which a row has at least one.
        inherit: columns that stand once for the rows below too.
        product: columns that prove each other.
        adds_up: a column, and the document's fields one of which is its sum.
        ends: fields of the document whose labels begin the lines below the table.
        bare: whether rows without heads are looked for, as a till prints them: words, then an amount.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name
    description: str
    words: tuple[str, ...] = ()
    fields: tuple[Field, ...]
    named_by: Name
    needs: tuple[Name, ...]
    inherit: tuple[Name, ...] = ()
    product: Product | None = None
    adds_up: tuple[Name, tuple[Name, ...]] | None = None
    ends: tuple[Name, ...] = ()
    bare: bool = False

    def field(self, name: str) -> Field | None:
        """Return the column of that name."""
        return next((field for field in self.fields if field.name == name), None)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        names = {field.name for field in self.fields}
        product = (*self.product.of, self.product.gives) if self.product else ()
        sums = self.adds_up[:1] if self.adds_up else ()
        for name in (self.named_by, *self.needs, *self.inherit, *product, *sums):
            if name not in names:
                raise ValueError(f"rows {self.name!r} name {name!r}, which is no column of theirs")
        return self
