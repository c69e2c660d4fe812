"""The table of a bucket whose declaration has grown since it was made."""

from collections.abc import Callable

from citegraph.corpus.records.annotations.annotation_store import AnnotationStore
from citegraph.corpus.schema.bucket import Bucket, load_buckets


def test_a_new_field_gets_its_column_where_the_indexes_of_a_year_stand_already(
    new_database: Callable[[], str],
) -> None:
    url, bucket = new_database(), load_buckets()["invoices"]
    AnnotationStore(url, {"invoices": bucket}).count("invoices")
    declared = bucket.model_dump()
    added = {"name": "added_later", "type": "keyword", "description": "A field of a later version."}
    grown = Bucket.model_validate(declared | {"fields": [*declared["fields"], added]})
    store = AnnotationStore(url, {"invoices": grown})
    assert store.count("invoices") == 0
    assert list(store.rows("invoices", (), ["added_later"], [], None)) == []
