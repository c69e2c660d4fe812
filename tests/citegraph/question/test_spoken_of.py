"""Words of a question that speak of a declared field in another way than its declaration."""

from datetime import date

import pytest

from citegraph.corpus.linking.linker import ValueLinker
from citegraph.corpus.records.annotations.annotation_store import AnnotationStore
from citegraph.corpus.schema.bucket import Bucket
from citegraph.question.clauses import read_question
from citegraph.question.spoken_of import runs, spoken_of, understood
from tests.node_runtime import conditions

FIELDS = [
    {"name": "tenant", "type": "keyword", "description": "Person who rents the boat."},
    {"name": "handed_over", "type": "date", "description": "Day on which the boat is handed over."},
    {"name": "brought_back", "type": "date", "description": "Day on which the boat comes back."},
    {"name": "deposit", "type": "money", "description": "Deposit paid in advance."},
    {"name": "rent", "type": "money", "description": "Rent for the whole time."},
    {"name": "berths", "type": "integer", "description": "Number of people who can sleep on board."},
    {"name": "skipper_included", "type": "boolean", "description": "A skipper sails with them."},
]


@pytest.fixture(scope="module")
def boats() -> Bucket:
    return Bucket(
        name="charters",
        description="Charter agreements for boats.",
        nouns=("charter",),
        fields=FIELDS,
        main_date="handed_over",
        main_amount="rent",
    )


@pytest.fixture(scope="module")
def linker(boats: Bucket, tmp_path_factory: pytest.TempPathFactory) -> ValueLinker:
    url = f"sqlite:///{tmp_path_factory.mktemp('boats') / 'a.sqlite'}"
    return ValueLinker(AnnotationStore(url, {boats.name: boats}))


@pytest.mark.parametrize(
    ("question", "field", "operator", "value"),
    [
        ("charters that have to be returned before 3 May 2031", "brought_back", "<=", "2031-05-02"),
        ("Welche Boote kommen nach dem 3. Mai 2031 zurück?", "brought_back", ">=", "2031-05-04"),
        ("boats picked up in May 2031", "handed_over", "between", ["2031-05-01", "2031-05-31"]),
        ("charters where they paid over 500 EUR in advance", "deposit", ">", "500 EUR"),
        ("boats that sleep at least 6", "berths", ">=", 6),
        ("charters where a skipper comes along", "skipper_included", "=", True),
    ],
)
def test_a_value_goes_to_the_field_that_its_words_speak_of(
    boats: Bucket, linker: ValueLinker, question: str, field: str, operator: str, value: object
) -> None:
    found = read_question(boats, linker, question, date(2032, 1, 1))
    assert conditions(found) == [(field, operator, value)]


def test_what_asks_for_a_date_becomes_a_word_of_it(boats: Bucket) -> None:
    question = "on which day does it finish?"
    field = understood(boats, question).field("brought_back")
    assert field is not None
    assert field.words
    assert all(word in question for word in field.words)


def test_a_declaration_stays_as_it_is_where_nothing_is_said_of_a_field(boats: Bucket) -> None:
    assert understood(boats, "good morning") is boats


def test_where_another_field_is_likelier_none_is_meant(boats: Bucket) -> None:
    question = "charters that have to be returned before 3 May 2031"
    start = question.index("3 May")
    assert spoken_of(boats, question, start, len(question), among=["brought_back", "rent"]) == "brought_back"
    assert spoken_of(boats, question, start, len(question), among=["rent"]) is None


def test_runs_are_whole_words_in_order(boats: Bucket) -> None:
    question = "charters that have to be returned before 3 May 2031"
    [run] = runs(boats, question)
    assert (run.field, run.role) == ("brought_back", "condition")
    assert question[run.start : run.end] in question
    assert question[run.end :] == ""
