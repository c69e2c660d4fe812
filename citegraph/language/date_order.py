"""Whether a document writes the day or the month first, told by the document itself."""

import re
from typing import Literal

DateOrder = Literal["DMY", "MDY", "YMD"]

_NUMERIC = re.compile(r"(?<![\d/.-])(\d{1,2})([/-])(\d{1,2})\2(?:(?:19|20)\d\d|\d\d)(?![\d/-])")
"""Dates with dots are left out: they have the day first everywhere."""

_STATES = (
    "AL AK AZ AR CA CO CT DE DC FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA RI"
    " SC SD TN TX UT VT VA WA WV WI WY"
)
_AMERICAN = re.compile(
    rf"(?<![^\W\d_])[^\W\d_]{{3,}},?[ ]+(?:{'|'.join(_STATES.split())}),?[ ]+\d{{5}}(?:-\d{{4}})?\b"
)
"""A town, a state and a ZIP code of the United States, the one large country that writes the month first."""


def written_order(text: str) -> DateOrder | None:
    """Return the order of the numeric dates that a text shows, None when it shows none.

    One date that can be read in one way only ("03/28/2024") decides how all are read, unless another says the contrary;
    without such a date an address in the United States does.
    """
    shown: set[DateOrder] = set()
    for first, _, second in _NUMERIC.findall(text):
        if int(first) > 12 >= int(second) > 0:
            shown.add("DMY")
        elif int(second) > 12 >= int(first) > 0 and int(second) <= 31:
            shown.add("MDY")
    if len(shown) == 1:
        return shown.pop()
    return "MDY" if not shown and _AMERICAN.search(text) else None
