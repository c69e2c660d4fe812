"""Read a question against one bucket's declaration: typed clauses, fields asked for, and the words that remain."""

import re
from collections.abc import Iterator, Sequence
from datetime import date

from citegraph.corpus.filters.checks import check_filters
from citegraph.corpus.filters.clause import Clause, Group, Operator, each_value, filtered_fields
from citegraph.corpus.linking.linker import ValueLinker
from citegraph.corpus.linking.name_search import Link
from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.field import Field
from citegraph.encoder.multilingual import SAID, is_idle, is_no_condition, tag_question
from citegraph.language import terms
from citegraph.language.dates import Period, month_pattern
from citegraph.language.numbers import find_spelled
from citegraph.language.periods import find_periods
from citegraph.language.word_tables import alternation, pattern, source
from citegraph.question import cues
from citegraph.question.alternatives import arrange
from citegraph.question.answer_form import PERSON
from citegraph.question.functions import FUNCTIONS, spans
from citegraph.question.groups import COMMON
from citegraph.question.measures import (
    comparisons,
    durations,
    plain_numbers,
    read_amounts,
    read_currencies,
    read_numbers,
    read_sizes,
    read_spoken_numbers,
)
from citegraph.question.missing import read_flags, read_presence
from citegraph.question.named_values import amount_meant, read_beginnings, read_mentions, read_spoken_values
from citegraph.question.negation import Denials
from citegraph.question.ordering import ranked_number
from citegraph.question.phrases import (
    GENERAL_DOCUMENTS,
    PLURAL,
    conditions_among,
    document_words,
    find_phrase,
)
from citegraph.question.reading import Atom, Reader, mention_of, stored
from citegraph.question.spoken_of import runs, spoken_of, understood
from citegraph.run.state_types import Reading

BARE_YEAR = re.compile(r"(?:19|20)\d\d")


def read_periods(reader: Reader, *, whole_dates: bool, names: Sequence[Link] = ()) -> None:
    """Bind each period to the date field whose words stand nearest, else to the bucket's main date.

    Dates and months are read before names are (a month may look like a name), unless one of `names` holds them
    ("Business Today"); bare years after them, since a name may hold one.
    """
    found: list[tuple[Period, Field, bool]] = []
    for period in find_periods(reader.question, today=reader.today, order=reader.bucket.date_order):
        if bool(BARE_YEAR.fullmatch(period.text.strip())) is whole_dates:
            continue
        start, end = period.span
        if spoken_of(reader.bucket, reader.question, start, end, among=plain_numbers(reader.bucket)):
            continue  # "painted before 1870", where the year is a number
        declared, worded = date_field(reader, period)
        if declared is None or not reader.free(start, end) or within_code(reader, start, end):
            continue
        if any(within_name(link, start, end) for link in names) or is_idle(
            reader.question, start, end, above=ASIDE
        ):
            continue
        found.append((period, declared, worded))
    # "A note from 2005 ... those dated 2005" says one thing twice: of the field that a word names.
    sure = {str(period_clause(period)): declared for period, declared, worded in found if worded}
    for period, declared, worded in found:
        operator, value = period_clause(period)
        start, end = period.span
        if reader.free(start, end):
            meant = declared if worded else sure.get(str((operator, value)), declared)
            reader.add(meant.name, operator, value, start, end)
            if period.note:
                reader.notes.append(period.note)


ASIDE = 0.98
"""Share of a period from which it has no part in the question: "I am away next week. Which bills are open?"."""


def within_name(link: Link, start: int, end: int) -> bool:
    """Tell whether a period is only a part of a name that is said whole."""
    return (
        link.complete and link.start <= start and end <= link.end and (link.start, link.end) != (start, end)
    )


def within_code(reader: Reader, start: int, end: int) -> bool:
    """Tell whether a period is only a part of an identifier ("KC-2023-04")."""
    found = reader.bucket.find_identifiers(reader.question)
    codes = [(begin, stop) for _, text, begin, stop in found if re.search(r"[^\W\d_]", text)]
    return any(begin <= start and end <= stop and (begin, stop) != (start, end) for begin, stop in codes)


def period_clause(period: Period) -> tuple[Operator, object]:
    """Return operator and value of a period, both ends included; an open end makes a comparison."""
    first = period.start.isoformat() if period.start else None
    last = period.end.isoformat() if period.end else None
    if first is None:
        return "<=", last
    if last is None:
        return ">=", first
    return ("=", first) if first == last else ("between", [first, last])


def date_field(reader: Reader, period: Period) -> tuple[Field | None, bool]:
    """Return the date field whose words stand nearest to a period, else the one that it surely speaks of, else the main date,
    and whether a word names it.

    What only says where it lies in time ("in", "from") names a field less surely than the words around it.

    Where no document has a main date like that, and of
    only one other field some have, that one is meant: nothing was issued in 2046, but some runs out then.
    """
    dates = [declared for declared in reader.bucket.fields if declared.type == "date"]
    wanted = [
        run for run in runs(reader.bucket, reader.question) if run.role == "wanted"
    ]  # "when do those from 2023 lapse?"
    said = [
        (place, word, spot, distance)
        for place, declared in enumerate(dates)
        for word in declared.words
        for spot in find_phrase(reader.question, word)
        if not any(run.field == declared.name and run.start <= spot[0] < run.end for run in wanted)
        if (distance := _distance(spot, period.span)) is not None
        and not is_asked_of_documents(reader, spot, period.span)
        and not pattern("and", "or", "deny", "except").search(reader.question, period.span[1], spot[0])
    ]
    near = [
        (_rank(word, behind=spot[0] >= period.span[1]), distance, place)
        for place, word, spot, distance in said
        if not any(within(spot, other[2]) for other in said)  # of "due date" it is not "date" that says which
    ]
    names = [declared.name for declared in dates if not reader.dates or declared.name in reader.dates]
    meant = spoken_of(reader.bucket, reader.question, *period.span, among=names)
    if meant and (not near or min(near)[0] in SMALL_WORDS):
        return reader.bucket.field(meant), False
    if near:
        return dates[min(near)[2]], min(near)[0] not in SMALL_WORDS
    main = reader.bucket.field(reader.bucket.main_date) if reader.bucket.main_date else None
    if main is not None and not _may_hold(reader, main, period):
        others = [declared for declared in dates if _may_hold(reader, declared, period)]
        return (others[0] if len(others) == 1 else main), False
    return main, False


def is_asked_of_documents(reader: Reader, spot: tuple[int, int], period: tuple[int, int]) -> bool:
    """Tell whether a field's word is what is wanted of documents that a period is of: "due dates of the invoices from July"."""
    between = reader.question[spot[1] : period[0]]
    if not any(find_phrase(between, noun) for noun in document_words(reader.bucket)):
        return False
    return tag_question(reader.question).slot(*spot, "asked") >= SAID


def within(part: tuple[int, int], whole: tuple[int, int]) -> bool:
    """Tell whether a span lies in a longer one."""
    return whole[0] <= part[0] and part[1] <= whole[1] and part != whole


SMALL_WORDS = (1, 3)
"""Ranks of words that only say where something lies in time."""


def _rank(word: str, *, behind: bool) -> int:
    """Return how little a word near a period says of which date is meant: "signed" before it most, "in" least."""
    small = terms.bare(word) in terms.stop_words()
    if small:
        return 3 if pattern("locative").fullmatch(word) else 1
    return 2 if behind else 0


def _distance(word: tuple[int, int], period: tuple[int, int]) -> int | None:
    """Return how far a word stands from a period, None for too far: behind it only the next words count."""
    if word[1] <= period[0]:
        return period[0] - word[1] if period[0] - word[1] <= BEFORE else None
    behind = word[0] - period[1]
    return behind + 5 if 0 <= behind <= BEHIND else None


BEFORE, BEHIND = 60, 25
"""Characters between a field's word and a period that it is about."""


def _may_hold(reader: Reader, declared: Field, period: Period) -> bool:
    """Tell whether some document's date may lie in a period; where no document states it, that is not known."""
    held = reader.dates.get(declared.name)
    if held is None:
        return declared.name == reader.bucket.main_date
    return (period.end is None or held[0] <= period.end) and (period.start is None or held[1] >= period.start)


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
        for start, end, operator in _states_said(reader, declared):
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


def _states_said(reader: Reader, declared: Field) -> list[tuple[int, int, Operator]]:
    """Return where the words of a date field stand with what they say of it, the longest first."""
    kinds: tuple[tuple[tuple[str, ...], Operator], ...] = ((declared.past, "<"), (declared.future, ">="))
    spots = [
        (start, end, operator)
        for words, operator in kinds
        for word in words
        for start, end in find_phrase(reader.question, word)
        if not _says_when(reader.question[end:])
    ]
    return sorted(spots, key=lambda spot: spot[0] - spot[1])


def _says_when(rest: str) -> bool:
    """Tell whether a number follows within the clause: "for ten years", "until 2031"."""
    near = re.split(r"[,;:.?!]", rest)[0][:REACH]
    return any(char.isdigit() for char in near) or bool(find_spelled(near))


REACH = 30
"""Characters after a word in which a number says of it how long, or until when."""


def read_question(bucket: Bucket, linker: ValueLinker, question: str, today: date) -> Reading:
    """Return how `bucket` understands `question`; blocking (value linking asks the store)."""
    question, today = told_today(question, today)
    question, cuts = without_second_thoughts(question)
    stated = linker.dates(bucket.name)
    dates = [item.name for item in bucket.fields if item.type == "date"]
    bucket = understood(bucket, question, besides=[name for name in dates if stated and name not in stated])
    reader = Reader(bucket, question, today, linker.currencies(bucket.name), stated)
    identifiers = read_identifiers(reader)
    names = linker.find_mentions(bucket.name, question)
    read_periods(reader, whole_dates=True, names=names)
    for form in (COMMON, pattern("grouping", before=r"(?:^|[.!?])\W*")):
        for match in form.finditer(question):
            reader.use(*match.span())  # "the most common" and "group them by" hold no name
    if ranked := ranked_number(question):
        reader.use(*ranked)
    read_beginnings(reader, linker, names)
    read_mentions(reader, names)
    read_spoken_values(reader, linker)
    read_sizes(reader)
    read_numbers(reader)
    read_spoken_numbers(reader)
    read_periods(reader, whole_dates=False)
    states = read_states(reader)
    read_presence(reader, names, linker.coverage(bucket.name))
    read_flags(reader, read_noun(reader))
    read_amounts(reader)
    read_currencies(reader)
    reader.atoms[:] = [atom for atom in reader.atoms if not is_taken_back(atom, reader.atoms, cuts)]
    filters, atoms, denials = arrange(reader)
    filters = [*without_restated(filters), *denied_elsewhere(filters, names)]
    filters, contrary = apart_from_contrary(filters)
    denied = {
        atom.mention
        for place, atom in enumerate(sorted(reader.atoms, key=lambda item: item.start))
        if place in denials.atoms
    }
    reader.atoms[:] = atoms
    for start, end in denials.used:
        reader.use(start, end)
    for _, match in bound_asked(question, "what_date"):
        reader.use(*match.span())  # "until what date" does not ask for the date of the document
    asked = list(dict.fromkeys([*states, *read_asked(reader)]))
    noun = read_noun(reader)
    left = remaining(reader, filters)
    if not asked and len(beside_the_form(question, left)) <= 1:  # else it is of something beside the document
        asked = asked_by_form(bucket, question)
    checked = check_filters(bucket, filters, today=today)
    return {
        "filters": [stored(item) for item in checked.filters],
        "dropped": [str(problem) for problem in checked.problems],
        "notes": reader.notes,
        "mentions": [mention_of(item, negated=item in denied) for item in reader.mentions],
        "named": any(item.field in bucket.entity_fields and item.complete for item in reader.mentions),
        "asked": asked,
        "terms": left,
        "names": names_meant(question, left),
        "unused": list(dict.fromkeys([*contrary, *unused(reader, denials, left)])),
        "identifiers": identifiers,
        "noun": noun,
    }


def without_restated(filters: Sequence[Clause | Group]) -> list[Clause | Group]:
    """Return the conditions without a day that only says again where a bound lies: "by end of 2030 (31 Dec 2030 included)"."""
    bounds = {
        (item.field, str(item.value))
        for item in filters
        if isinstance(item, Clause) and item.operator in {"<", "<=", ">", ">="}
    }
    return [
        item
        for item in filters
        if not (isinstance(item, Clause) and item.operator == "=" and (item.field, str(item.value)) in bounds)
    ]


def apart_from_contrary(filters: Sequence[Clause | Group]) -> tuple[list[Clause | Group], list[str]]:
    """Return the conditions without the denials of what another one demands, and the words of those.

    "Distributor deals, but not where the distributor may not sell others" denies no distributor, and both together
    would match nothing.
    """
    demanded = {
        (item.field, value)
        for item in filters
        if isinstance(item, Clause) and item.operator in {"=", "in", "contains"}
        for value in _values(item)
    }
    contrary = [
        item
        for item in filters
        if isinstance(item, Clause)
        and item.operator in {"!=", "not in"}
        and all((item.field, value) in demanded for value in _values(item))
    ]
    return [item for item in filters if item not in contrary], [item.raw for item in contrary]


def _values(clause: Clause) -> list[str]:
    return list(map(str, each_value(clause.value)))


def denied_elsewhere(filters: Sequence[Clause | Group], names: Sequence[Link]) -> list[Clause]:
    """Return what a denied name denies in the other fields that hold it as well: nobody wants it in any of them."""
    out = []
    for clause in filters:
        if not isinstance(clause, Clause) or clause.operator not in {"!=", "not in"}:
            continue
        said = clause.raw.split("; ")
        own = {(link.start, link.end): link.score for link in names if link.field == clause.field}
        for link in names:
            score = own.get((link.start, link.end))
            if score is None or link.field == clause.field or link.text not in said:
                continue
            if link.complete and link.score >= ALIKE * score:
                out.append(
                    Clause(field=link.field, operator="not in", value=list(link.values), raw=link.text)
                )
    return out


ALIKE = 0.9
"""Share of a name's score from which another field holds it as surely."""


def told_today(question: str, today: date) -> tuple[str, date]:
    """Return the question without "today is 15 May 2018", as many blanks in its place, and the day that it sets as today."""
    for match in pattern("today").finditer(question):
        for period in find_periods(question[match.end() :], today=today):
            if period.is_day and period.start and period.span[0] <= 4:
                end = match.end() + period.span[1]
                return question[: match.start()] + " " * (end - match.start()) + question[end:], period.start
    return question, today


def without_second_thoughts(question: str) -> tuple[str, list[int]]:
    """Return a question with a stop and blanks for what takes back what was just said ("no wait", "ach nein"), and where it stands."""
    cuts: list[int] = []
    for match in pattern("second_thoughts").finditer(question):
        if question[: match.start()].strip() and question[match.end() :].strip(" .,;!?"):
            blank = "." + " " * (match.end() - match.start() - 1)
            question = question[: match.start()] + blank + question[match.end() :]
            cuts.append(match.start())
    return question, cuts


def is_taken_back(atom: Atom, atoms: Sequence[Atom], cuts: Sequence[int]) -> bool:
    """Tell whether a later thought gives the field of a condition another value: "those from 2019, no wait, since 2017"."""
    return any(
        atom.start < cut < other.start and other.clause.field == atom.clause.field
        for cut in cuts
        for other in atoms
    )


def unused(reader: Reader, denials: Denials, left: Sequence[str]) -> list[str]:
    """Return the denials and the compared numbers that became no condition: each could narrow the answer."""
    found = [reader.question[start:end] for start, end in denials.idle if reader.free(start, end)]
    found += denials.lost
    for said, _ in comparisons(reader.question):
        place = reader.question.find(said)
        if place >= 0 and reader.free(place + len(said) - 1, place + len(said)):
            found.append(said)
    return list(dict.fromkeys([*found, *unheld_amounts(reader, left)]))


def unheld_amounts(reader: Reader, left: Sequence[str]) -> list[str]:
    """Return the words that say which amount is meant and that no field holds: "the open total", "how much postage"."""
    question = reader.question
    main = reader.bucket.field(reader.bucket.main_amount or "")
    if main is None or not left:
        return []
    spots = [place for word in main.words for place in find_phrase(question, word)]
    spots = [
        (start, end) for start, end in spots if terms.bare(question[start:end]) not in terms.stop_words()
    ]
    before = [re.search(r"([^\W\d_]+)\s+$", question[:start]) for start, _ in spots]
    behind = [
        re.match(r"\s+([^\W\d_]+)", question[match.end() :])
        for match in pattern("amount_asked").finditer(question)
    ]
    said = [match[1] for match in (*before, *behind) if match]
    amounts = [declared for declared in reader.bucket.fields if declared.type == "money"]
    held = {
        word
        for declared in amounts
        for phrase in asked_by(declared)
        for start, end in find_phrase(question, phrase)
        for word in terms.words(question[start:end])
    }
    return [word for word in dict.fromkeys(said) if terms.bare(word) in left and terms.bare(word) not in held]


def read_identifiers(reader: Reader) -> list[str]:
    """Return the identifiers of the question, lower case, for the index's exact match."""
    found = []
    for _, text, _, _ in reader.bucket.find_identifiers(reader.question):
        found.append(text.lower())
    return list(dict.fromkeys(found))


def read_asked(reader: Reader) -> list[str]:
    """Return the fields whose words stand in the unused part of the question, longest phrase first.

    A word within the longer one of another field ("the VAT amount") asks for that one alone.
    """
    spots = [
        (start, end, declared)
        for declared in reader.bucket.fields
        for word in asked_by(declared)
        # "from" asks only beside a "who"
        if terms.bare(word) not in terms.stop_words("grammar") or PERSON.search(reader.question)
        for start, end in find_phrase(reader.question, word)
        if reader.free(start, end) and end - start >= 3
    ]
    longest = sorted(spots, key=lambda spot: (spot[0] - spot[1], spot[0]))
    return list(
        dict.fromkeys(
            amount_meant(reader, declared, start, end)
            for start, end, declared in longest
            if not any(low <= start and end <= high and high - low > end - start for low, high, _ in longest)
        )
    )


def beside_the_form(question: str, left: Sequence[str]) -> list[str]:
    """Return the words left that neither ask for a length or an end nor are general nor have digits: a verb at most."""
    form = pattern("how_long", "until", "since", "when", "longer").finditer(question)
    said = {word for match in form for word in terms.words(match.group())}
    general = terms.stop_words("general")
    return [word for word in left if word not in said and word not in general and word.isalpha()]


def asked_by_form(bucket: Bucket, question: str) -> list[str]:
    """Return the fields that a question asks for without a word of theirs: a duration, the end or beginning of something.

    "How long does it run", "bis wann", "jusqu'à quand": the end is the date that has "until" among its words.
    """
    lasts = [item.name for item in durations(bucket)[:1]]
    if pattern("how_long").search(question):
        return lasts
    for kind, _ in bound_asked(question, "when", "what_date"):
        return bounded_by(bucket, kind)
    return [*bounded_by(bucket, "until"), *lasts] if pattern("longer").search(question) else []


def bound_asked(question: str, *forms: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield where an end ("until") or a beginning ("since") is asked for by words of some forms, with which of both it is."""
    for kind in ("until", "since"):
        for match in pattern(kind, after=rf"\s+{source(*forms)}").finditer(question):
            yield kind, match


def bounded_by(bucket: Bucket, kind: str) -> list[str]:
    """Return the first date field that has a word of a kind ("until") among its own, none without one."""
    dates = (item for item in bucket.fields if item.type == "date")
    return [item.name for item in dates if any(pattern(kind).search(word) for word in item.words)][:1]


def _labels(declared: Field) -> tuple[str, ...]:
    return tuple(label for rule in declared.extract for label in rule.labels if " " in label)


def asked_by(declared: Field) -> tuple[str, ...]:
    """Return the words by which a field is asked for; an amount also by the labels of several words that it is printed under."""
    words = declared.called
    return (*words, *_labels(declared)) if declared.type == "money" else words


_ALL_OF = re.compile(rf"\b(?:{alternation('asking', 'all_of')})\s", re.IGNORECASE)


def read_noun(reader: Reader) -> str:
    """Return "plural" or "singular" when the question names the bucket's documents, else ""."""
    result = ""
    nouns = document_words(reader.bucket)
    for noun in nouns:
        for start, end in find_phrase(reader.question, noun):
            said = reader.question[start:end].lower()
            longer = len(said) > len(noun) and PLURAL.search(said) is not None
            italian = len(said) == len(noun) and (noun[-1], said[-1]) in ITALIAN and said not in nouns
            longer = (
                longer or italian or said.split()[0] == f"{noun.split()[0].lower()}s"
            )  # "fiches de données"
            one = said.endswith("s") and GENITIVE.search(reader.question[:start])
            if longer and not (one and reader.question[start].isupper()):
                return "plural"
            each = pattern("universal", after=r"(?P<between>(?:\s+[\w&.'-]+){0,3})\s+$").search(
                reader.question[:start]
            )
            if each and not {*terms.words(each["between"])} & terms.stop_words("grammar"):
                return "plural"  # "the due date of each Halbrecht invoice"
            result = result or "singular"
    if result and _ALL_OF.search(reader.question):
        return "plural"
    general = GENERAL_DOCUMENTS.search(reader.question)
    return ("plural" if general["several"] else result or "singular") if general else result


ITALIAN = frozenset({("a", "e"), ("o", "i"), ("e", "i")})
"""The last letters of an Italian noun and of its plural."""
GENITIVE = re.compile(rf"\b(?:{alternation('asking', 'genitive')})\s+$", re.IGNORECASE)
"""Before a noun in "s": the German genitive of one document, not a plural."""


def remaining(reader: Reader, filters: Sequence[Clause | Group]) -> list[str]:
    """Return the content words outside of every used span, without the bucket's nouns and cue words."""
    text = list(reader.question)
    for span in reader.used:
        text[span.start : span.end] = " " * (span.end - span.start)
    rest = "".join(text)
    nouns = {form for noun in reader.bucket.nouns for form in terms.words(noun)}
    nouns |= {
        form
        for noun in reader.bucket.nouns
        for start, end in find_phrase(rest, noun)
        for form in terms.words(rest[start:end])
    }
    said = [match.group() for pattern in CUES for match in pattern.finditer(rest)]
    said += [match.group() for match in GENERAL_DOCUMENTS.finditer(rest)]
    said += [rest[start:end] for function in FUNCTIONS for start, end in spans(rest, function)]
    cues = set(terms.words(" ".join(said)))
    fields = {field for item in filters for field in filtered_fields(item)}
    own = {
        form
        for name in fields
        for word in (reader.bucket.field(name) or _NO_FIELD).words
        for form in terms.words(word)
    }
    # A name that is said again says nothing more.
    bound = {word for span in reader.used for word in terms.words(reader.question[span.start : span.end])}
    known = nouns | cues | own | bound | terms.small_words(reader.question)
    return [word for word in terms.content_words(rest) if word not in known and len(word) > 1]


_NO_FIELD = Field(name="none", type="text", description="no such field")
CUES = (
    cues.LIST,
    cues.SUMMARIZE,
    cues.EXISTENCE,
    cues.NEGATION,
)


GERMAN = re.compile(rf"\b(?:{alternation('asking', 'german')})\b", re.IGNORECASE)


def names_meant(question: str, left: Sequence[str]) -> list[str]:
    """Return the names among some words that are conditions or wanted, or that are quoted: the tagger may not know their part."""
    names = names_among(question, left)
    kept = {
        *conditions_among(question, names, "included", "asked"),
        *terms.words(" ".join(QUOTED.findall(question))),
    }
    return [word for word in names if word in kept]


QUOTED = re.compile(r"[\"“”„«]([^\"“”„«»]{2,40})[\"“”»]")


def names_among(question: str, left: Sequence[str]) -> list[str]:
    """Return those of the words that name something particular: written with a capital inside the sentence, or with a digit.

    In a question of title case or capitals only, or in German, nothing can be told from capitals and only codes count.
    """
    written = {terms.bare(raw): raw for raw in re.findall(r"[^\W_]+", question)}
    raws = re.findall(r"[^\W\d_]{2,}", question)
    capitals = sum(raw[0].isupper() for raw in raws)
    german = len(GERMAN.findall(question)) >= (1 if re.search(r"[äöüßÄÖÜ]", question) else 2)
    telling = raws and capitals <= 0.7 * len(raws) and not german
    begins = {*raws[:1], *BEGINS.findall(question)}
    names = []
    for word in left:
        raw = written.get(word, word)
        coded = any(char.isdigit() for char in raw) and any(char.isalpha() for char in raw)
        coded = coded or (german and len(raw) > 2 and raw.isupper())
        capital = telling and raw[0].isupper() and (raw not in begins or raw[1:] != raw[1:].lower())
        if coded or (capital and not re.fullmatch(month_pattern(False), word)):
            names.append(word)
    return names


BEGINS = re.compile(r"[.!?][\"”’)]*\s+[¿¡“\"«(]*([^\W\d_]{2,})")
"""The first word of a sentence, which has a capital whatever it is."""
