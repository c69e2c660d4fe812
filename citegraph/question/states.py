"""Words that say where a date lies from today: "expired", "still in force", "overdue"."""

import re

from citegraph.corpus.filters.clause import Operator
from citegraph.corpus.schema.field import Field
from citegraph.encoder.multilingual import SAID, is_no_condition, tag_question
from citegraph.language.numbers import find_spelled
from citegraph.question.phrases import find_phrase
from citegraph.question.reading import Reader


def read_states(reader: Reader) -> list[str]:
    """Bind a date field's words for "past" and "to come" to today, where no period is said of the field.

    "Expired in 2023" and "valid for ten years" say when, and how long. In a question for a fact of one document
    what the tagger takes for no condition is none.

    Returns:
        the fields that are asked for instead: "is it still valid?".
    """
    today = reader.today.isoformat()
    asked = []
    for declared in reader.bucket.fields:
        said = [atom for atom in reader.atoms if atom.clause.field == declared.name]
        now = [atom for atom in said if (atom.clause.operator, atom.clause.value) == ("=", today)]
        if len(said) > len(now):
            continue
        for start, end, operator in _said(reader, declared):
            if not reader.free(start, end):
                continue
            of_one = tag_question(reader.question).intent in {"fact", "same"}
            if of_one and is_no_condition(reader.question, start, end, below=SAID):
                asked.append(declared.name)
                break
            reader.atoms[:] = [atom for atom in reader.atoms if atom not in now]  # "valid today"
            reader.add(declared.name, operator, today, start, end)
            break
    return asked


def _said(reader: Reader, declared: Field) -> list[tuple[int, int, Operator]]:
    """Return where the words of a date field stand with what they say of it, the longest first."""
    kinds: tuple[tuple[tuple[str, ...], Operator], ...] = ((declared.past, "<"), (declared.future, ">="))
    spots = [
        (start, end, operator)
        for words, operator in kinds
        for word in words
        for start, end in find_phrase(reader.question, word)
        if not _measured(reader.question[end:])
    ]
    return sorted(spots, key=lambda spot: spot[0] - spot[1])


def _measured(rest: str) -> bool:
    """Tell whether a number follows within the clause: "for ten years", "until 2031"."""
    near = re.split(r"[,;:.?!]", rest)[0][:NEAR]
    return any(char.isdigit() for char in near) or bool(find_spelled(near))


NEAR = 30
"""Characters after a word in which a number says of it how long, or until when."""
