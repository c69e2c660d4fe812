"""One document and a question: which of its fields are said."""

from citegraph.answer.one_document import stated_values
from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.document import Document
from citegraph.corpus.schema.field import Field
from citegraph.run.state_types import Reading

NOTICES = Bucket(
    name="notices",
    description="Notices.",
    nouns=("notice",),
    fields=(
        Field(name="repaired_in", type="keywords", description="Releases with the repair."),
        Field(name="maker", type="text", description="Maker."),
    ),
)


def test_a_list_without_an_item_states_nothing() -> None:
    document = Document("n1", "notices", "Pump P7 is no longer made by Halm.", "n1.txt", "")
    part: Reading = {"filters": [], "asked": ["repaired_in", "maker"], "terms": []}
    values = {"repaired_in": (), "maker": "Halm"}
    assert stated_values(NOTICES, document, values, part, "which release repairs the pump") == {
        "maker": "Halm"
    }
