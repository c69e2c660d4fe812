"""What a contract is, not what it mentions, says its kind."""

import pytest

from citegraph.corpus.schema.bucket import load_buckets
from citegraph.corpus.schema.values import derive_values

CONTRACTS = load_buckets()["contracts"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("MUTUAL NON-DISCLOSURE\nAGREEMENT\n\nThis agreement is made by A and B.", "Non-Disclosure"),
        ("# Confidentiality Letter\n\nDear Sirs", "Non-Disclosure"),
        ("Mutual NDA between the yard and the owner", "Non-Disclosure"),
        (
            "# Berth Lease\n\n## 9. Confidentiality\nNeither party will disclose Confidential Information.",
            None,
        ),
        ("# Towing Terms\n\n## 4. Non-Use and Non-Disclosure. Each party keeps secret what it learns.", None),
        (
            "# Hull Survey Contract\n\n"
            + "words " * 120
            + "the Non-Disclosure Agreement of 2019 stays in force",
            None,
        ),
    ],
)
def test_an_nda_is_called_so_by_its_title(text: str, kind: str | None) -> None:
    assert derive_values(CONTRACTS, {}, text).get("contract_type") == kind
