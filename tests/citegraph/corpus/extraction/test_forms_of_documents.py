"""What documents say by their form: letters, lists beneath a label, running heads, the head of a mail, XML that is no print."""

from datetime import date

import pytest

from citegraph.corpus.extraction.engine import Source, extract
from citegraph.corpus.extraction.letters import find_letter
from citegraph.corpus.extraction.running_heads import find_publisher, find_running_day
from citegraph.corpus.schema.bucket import load_buckets, show
from citegraph.corpus.schema.document import Page

BUCKETS = load_buckets()
TODAY = date(2026, 1, 1)


def found(bucket: str, source: Source) -> dict[str, str]:
    fields = extract(BUCKETS[bucket], source).fields
    return {name: show(item.best.value) for name, item in fields.items()}


LETTER = """QUAY LIGHTS
4 Pier Road, Oban
+44 1631 555 010
4 March 2021

Ms. Ida Kroll
Harbour Office
9 High Street, Ayr

Dear Ms. Kroll:
the lamps that you asked for are on their way.
{closing}
Otto Beck
Keeper
"""


@pytest.mark.parametrize("closing", ["Yours sincerely,", "Kind regards", "Mit freundlichen Grüßen,"])
def test_a_letter_says_who_writes_to_whom_and_when(closing: str) -> None:
    values = found("generic", Source(LETTER.format(closing=closing), today=TODAY))
    assert values["recipients"] == "Ms. Ida Kroll"
    assert values["author"] == "Otto Beck"
    assert values["published_date"] == "2021-03-04"
    assert "title" not in values


@pytest.mark.parametrize(
    ("text", "addressee"),
    [
        ("Oban\nDear Sir or Madam,\nwords\n", None),
        ("Oban\nSehr geehrter Herr Beck,\nworte\n", "Beck"),
        ("Oban\nTo whom it may concern:\nwords\n", None),
        (
            "A long line of running text stands above the greeting here, as it does in no letter that anybody wrote.\nDear Ida,\n",
            "",
        ),
        ("Dear Ida,\nwords\n", ""),
    ],
)
def test_whom_a_letter_greets(text: str, addressee: str | None) -> None:
    letter = find_letter(text)
    if addressee == "":
        assert letter is None
        return
    assert letter is not None
    assert (text[slice(*letter.addressee)] if letter.addressee else None) == addressee


@pytest.mark.parametrize(
    ("text", "people"),
    [
        (
            "Minutes\nPresent:\nIda Kroll (Chair)\n- Otto Beck\nJ. Finch\n\n1. Report\n",
            "Ida Kroll; Otto Beck; J. Finch",
        ),
        ("Minutes\nPresent: Ida Kroll, Otto Beck\nThe tide was low.\n", "Ida Kroll; Otto Beck"),
        ("Minutes\nAttendees:\n\nIda\nOtto\nAims of the day:\n- Lamps\n", "Ida; Otto"),
    ],
)
def test_people_one_a_line(text: str, people: str) -> None:
    assert found("generic", Source(text, today=TODAY))["attendees"] == people


def _paged(*bodies: str) -> tuple[str, tuple[Page, ...]]:
    text, pages = "", []
    for number, body in enumerate(bodies, 1):
        pages.append(Page(number, len(text), len(text) + len(body)))
        text += body + "\f"
    return text, tuple(pages)


def test_a_running_head_names_the_publisher_as_it_calls_itself() -> None:
    head = "Kestrel Semiconductors Product specification KX39\n"
    text, pages = _paged(
        "KX39\nData sheet\n",
        head + "Features\n",
        head + "Ratings\n",
        head + "Drawings\n",
        "© Kestrel Holding N.V. 2009\n",
    )
    nouns = BUCKETS["datasheets"].nouns
    at = find_publisher(text, pages, nouns)
    assert at is not None
    assert text[at[0] : at[1]] == "Kestrel Semiconductors"
    assert found("datasheets", Source(text, pages, today=TODAY))["manufacturer"] == "Kestrel Semiconductors"
    longer = text.replace("Kestrel Semiconductors Product", "Kestrel Coast Semiconductors KX39 Product")
    at = find_publisher(*_paged(*longer.split("\f")), nouns)
    assert at is not None
    assert longer[at[0] : at[1]] == "Kestrel Coast Semiconductors"
    bare = find_publisher(text.replace("N.V.", "the bird"), pages, nouns)
    assert bare is not None
    assert bare[2] < at[2]
    assert find_publisher(*_paged("KX39\n", head, "© Kestrel Holding N.V.\n"), nouns) is None


def test_a_mail_bears_the_date_of_its_head_alone() -> None:
    head = "From: ida@elm.example\nTo: otto@oak.example\nSubject: Rope\n{date}\nDear Otto,\nDate: 2025-07-20\nWeight: 4\n"
    assert "published_date" not in found("generic", Source(head.format(date=""), today=TODAY))
    dated = head.format(date="Date: Mon, 4 Mar 2024 10:30:00 +0000\n")
    values = found("generic", Source(dated, today=TODAY))
    assert values["published_date"] == "2024-03-04"
    assert values["recipients"] == "otto@oak.example"


UBL = """<Invoice xmlns="urn:i"><UBLVersionID>2.1</UBLVersionID><ID>U-9</ID><IssueDate>2024-06-01</IssueDate>
<TaxPointDate>2024-07-20</TaxPointDate><InvoiceTypeCode>384</InvoiceTypeCode>
<DocumentCurrencyCode>EUR</DocumentCurrencyCode>{parties}
<LegalMonetaryTotal><TaxInclusiveAmount currencyID="EUR">125.00</TaxInclusiveAmount></LegalMonetaryTotal></Invoice>"""
SELLER = "<AccountingSupplierParty><Party><PartyName><Name>Fjord Rope</Name></PartyName></Party></AccountingSupplierParty>"
WRITTEN = "UBLVersion ID: 2.1\nID: U-9\nIssue Date: 2024-06-01\nTax Point Date: 2024-07-20\nInvoice Type Code: 384\n"


def test_the_xml_of_an_invoice_says_only_what_its_terms_do() -> None:
    source = Source(WRITTEN, embedded=(UBL.format(parties="").encode(),), today=TODAY)
    values = found("invoices", source)
    assert {"vendor_name", "customer_name", "delivery_date"}.isdisjoint(values)
    assert values["document_type"] == "corrected invoice"
    named = Source(WRITTEN, embedded=(UBL.format(parties=SELLER).encode(),), today=TODAY)
    assert found("invoices", named)["vendor_name"] == "Fjord Rope"


def test_the_print_of_an_invoice_with_xml_is_read_too() -> None:
    text = "Fjord Rope AS\nID: 9\nInvoice U-9\nDelivery date: 2024-05-30\n"
    source = Source(text, embedded=(UBL.format(parties=SELLER).encode(),), today=TODAY)
    assert found("invoices", source)["delivery_date"] == "2024-05-30"


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (
            "Harbour School\n30 May 2022\n4471QX\nThis is to certify that IDA KROLL has successfully completed Knots test held at Oban\n"
            "This training is offered by the Pier Trust, Ayr.\n",
            {
                "organization": "IDA KROLL",
                "subject": "Knots",
                "issuer": "Pier Trust",
                "certificate_id": "4471QX",
            },
        ),
        (
            "May 30, 2022\nOtto Beck\nhas successfully completed\nRope Making\nVerify at:\nhttps://pier.example/verify/cert/QX77ABCD12\n",
            {"organization": "Otto Beck", "subject": "Rope Making", "certificate_id": "QX77ABCD12"},
        ),
        (
            "EU DECLARATION OF CONFORMITY\nManufacturer name: Elm Lamps Co., Ltd\nProduct: Lamp L-7\nDirective 2014/35/EU, (EU) 2016/425, EN 60598-1:2015\n",
            {"organization": "Elm Lamps Co., Ltd", "standards": "2014/35/EU; 2016/425; EN 60598-1:2015"},
        ),
    ],
)
def test_certificates_of_courses_and_declarations(text: str, values: dict[str, str]) -> None:
    assert values.items() <= found("certificates", Source(text, today=TODAY)).items()


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        (
            "RENT\nEither party ends it upon sixty (60) days written notice.",
            "notice_period",
            "sixty (60) days",
        ),
        (
            "MIETVERTRAG\nDie Kündigungsfrist beträgt drei Monate zum Monatsende.",
            "notice_period",
            "drei Monate",
        ),
        ("VEREINBARUNG\nSie tritt mit Wirkung ab dem 22.12.2021 in Kraft.", "effective_date", "2021-12-22"),
        ("VEREINBARUNG\nDiese Vereinbarung gilt für 4 Jahre.", "term", "4 Jahre"),
        ("BAIL\nLe contrat est soumis au droit français.", "governing_law", "France"),
    ],
)
def test_clauses_in_other_words_and_languages(text: str, field: str, value: str) -> None:
    assert found("contracts", Source(text, today=TODAY))[field] == value


MEMO = """QUAY LIGHTS INTERNAL
TO:      Ida Kroll
FROM:    Otto Beck
DATE:    4 March 2021
RE:      Lamps of the pier

The date: of the works is open.
"""


def test_a_field_is_found_by_its_own_words_before_a_colon_where_no_rule_finds_it() -> None:
    heads = found("generic", Source(MEMO, today=TODAY))
    names = ("recipients", "author", "published_date", "title")
    assert [heads[name] for name in names] == ["Ida Kroll", "Otto Beck", "2021-03-04", "Lamps of the pier"]
    assert "author" not in found("generic", Source("Rules\nThe letter is from Otto Beck\n", today=TODAY))


def test_the_title_says_the_kind_before_other_words_do() -> None:
    text = "Agenda of the board\n\n1. Attendance\n2. Lamps\n"
    assert found("generic", Source(text, today=TODAY))["document_type"] == "agenda"


def test_the_day_that_most_pages_bear_is_the_document_s() -> None:
    foot = "December 1990   {}\n"
    body = "Features\nof\nit\nsince 3 May 1987\nand\nno\nlonger\n"
    text, pages = _paged(*(body + foot.format(number) for number in (2, 3, 4)))
    at = find_running_day(text, pages)
    assert at is not None
    assert text[at[0] : at[1]] == "December 1990"
    assert find_running_day(*_paged("A\n1 May 1990\n", "B\n2 May 1990\n")) is None


def test_an_invoice_has_the_day_of_its_head_where_no_label_names_one() -> None:
    text = "QUAY LIGHTS\nNovember 30, 2022\nINVOICE #1234\nPayment Due   December 30, 2022\nTotal   12.00\n"
    assert found("invoices", Source(text, today=TODAY))["invoice_date"] == "2022-11-30"
    labelled = text.replace("INVOICE #1234", "Invoice date   December 1, 2022")
    assert found("invoices", Source(labelled, today=TODAY))["invoice_date"] == "2022-12-01"
