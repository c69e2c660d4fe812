"""What a principal may change: the one decision that every route asks that writes."""

from citegraph.corpus.records.access import Principal
from citegraph.corpus.schema.document import Document
from citegraph.run.services import Corpus
from server.problems import Refused


def may_write(who: Principal) -> None:
    """Refuse, with 403, those who may only read."""
    if not who.may_write:
        raise Refused(403, "This key may read only.")


def may_change(who: Principal, document: Document) -> None:
    """Refuse, with 403, to change or remove a document that others see by a label that is not this principal's."""
    may_write(who)
    if not who.may_change(document.bucket, document.labels):
        raise Refused(
            403, "Others see this document too, by a label that is not yours: you cannot change it."
        )


def may_bring(who: Principal, bucket: str, labels: tuple[str, ...]) -> None:
    """Refuse, with 403, a new document that its writer could not change afterwards."""
    may_write(who)
    if not who.may_change(bucket, labels):
        yours = ", ".join(sorted(who.labels or ())) or "you have none"
        raise Refused(403, f"Give one of your labels: {yours}.")


def may_replace(who: Principal, corpus: Corpus, doc_id: str) -> None:
    """Refuse, with 403, to say that a document is replaced which this principal may not change, if there is one."""
    named = corpus.documents.get(doc_id)
    if not who.sees_all and (named is None or not who.may_change(named.bucket, named.labels)):
        raise Refused(403, f"{doc_id[:200]!r} is no id of a document that you may change.")
