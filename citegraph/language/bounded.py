"""Bounds what a text repeats, so that no pattern costs more than the text's size.

Python's expressions look at a run of blanks, of signs or of letters once from each of its places: a run of n costs n*n.
With runs, words and lines of at most so many characters it costs n times that. What is cut tells nobody anything: blanks
beyond a page's width, a rule of a thousand dashes; a word or line that is longer than any is broken, not cut.
"""

import re

BLANKS = 120
"""Blanks side by side."""
SIGNS = 240
"""Characters side by side in a line that are neither letters nor digits."""
HOLLOW = 500
"""Such characters over several lines."""
EMPTY = 200
"""Blanks and line ends side by side."""
WORD = 400
"""Characters of a word; those of scripts without blanks between words have `UNSPACED`."""
UNSPACED = 4_000
LINE = 8_000
"""Characters of a line."""

# Each begins where its run begins: tried from every place of a run it would cost what it is there to prevent.
_BLANKS = re.compile(rf"(?<![^\S\n\f])[^\S\n\f]{{{BLANKS + 1},}}")
_SIGNS = re.compile(rf"(?<![^\w\n\f])[^\w\n\f]{{{SIGNS + 1},}}")
_EMPTY = re.compile(rf"(?<![^\S\f])[^\S\f]{{{EMPTY + 1},}}")
_HOLLOW = re.compile(rf"(?<![^\w\f])[^\w\f]{{{HOLLOW + 1},}}")
_WORD = re.compile(rf"(?<![^\s\u2e80-\U0010ffff])[^\s\u2e80-\U0010ffff]{{{WORD + 1},}}")
_UNSPACED = re.compile(rf"(?<!\S)\S{{{UNSPACED + 1},}}")
_LINE = re.compile(rf"(?<![^\n\f])[^\n\f]{{{LINE + 1},}}")


def bounded(text: str) -> str:
    """Return a text whose runs are cut, and whose words and lines are broken, where they are longer than any is."""
    if len(text) <= BLANKS:
        return text
    text = _BLANKS.sub(lambda found: found[0][:BLANKS], text)
    text = _SIGNS.sub(lambda found: found[0][:SIGNS], text)
    text = _EMPTY.sub(lambda found: found[0][:EMPTY], text)
    text = _HOLLOW.sub(lambda found: found[0][:HOLLOW], text)
    text = _WORD.sub(lambda found: _broken(found[0], WORD), text)
    text = _UNSPACED.sub(lambda found: _broken(found[0], UNSPACED), text)
    return _LINE.sub(lambda found: _lines(found[0]), text)


def _broken(word: str, most: int) -> str:
    return "\n".join(word[begin : begin + most] for begin in range(0, len(word), most))


def _lines(line: str) -> str:
    """Return a line in several, broken at ends of sentences, else between words."""
    pieces: list[str] = []
    begin = 0
    while len(line) - begin > LINE:
        end = begin + LINE
        sentence = line.rfind(". ", begin + LINE // 2, end) + 1
        blank = line.rfind(" ", begin + LINE // 2, end)
        at = sentence or (blank if blank > 0 else end)
        pieces.append(line[begin:at])
        begin = at + (line[at] == " ")
    return "\n".join([*pieces, line[begin:]])
