"""The day, the writer, the holder of a certificate and the heads of mails and minutes, as documents of any kind bear them."""

from datetime import date

import pytest

from citegraph.corpus.extraction.engine import Source, extract
from citegraph.corpus.extraction.first_lines import (
    find_certifier,
    find_day,
    find_holder,
    find_number,
    find_writer,
)
from citegraph.corpus.schema.bucket import load_buckets, show

BUCKETS = load_buckets()
TODAY = date(2026, 1, 1)


def found(bucket: str, text: str) -> dict[str, str]:
    fields = extract(BUCKETS[bucket], Source(text, today=TODAY)).fields
    return {name: show(item.best.value) for name, item in fields.items()}


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Harbour rules\nTuesday 15th March, 2016\nAll ships", "15th March, 2016"),
        ("Protokoll från årsmötet, 13 maj 2023, i Lund\nVal", "13 maj 2023"),
        ("Crew meeting 10-17-18\nWho came", "10-17-18"),
        ("Title\nDatum: 15 Nov 2021\n", "15 Nov 2021"),
        ("Title\nFälligkeit: 15.11.2021 oder später, wenn vereinbart\n", None),
        ("Plan\nJanuary 1, 2024 through December 31, 2026\n", None),
        ("Title\n" + "words and words\n" * 20 + "4 May 2020\n", None),
        ("Forecast\n4 May 2031\n", None),
    ],
)
def test_the_day_of_a_document(text: str, day: str | None) -> None:
    at = find_day(text, order="MDY", today=TODAY)
    assert (text[at[0] : at[1]] if at else None) == day


def test_the_writer_stands_beside_the_day_or_an_address() -> None:
    paper = "Notes of the dredging group\nInge van der Aa\n11th March 2016\n1 Report\n"
    at = find_writer(paper, order="DMY", today=TODAY)
    assert at is not None
    assert paper[at[0] : at[1]] == "Inge van der Aa"
    assert find_writer("Rules\nTable Of Contents\n1 Report\n", order="DMY", today=TODAY) is None


def test_a_certificate_of_a_management_system() -> None:
    text = (
        "Certificate\nWe certify that the quality system of\nORLA BAU AG DOOEL\nharbour street 4\n"
        "has been assessed in accordance with\nISO 9001 :2015 and EN 1090-2:2018\n"
        "Certificate No.: 40 QX77 E\nValid from: 16.01.2024\nValid until: 20.01.2027\n"
        "KESTREL Certification Body\n"
    )
    at = find_holder(text)
    assert at is not None
    assert text[at[0] : at[1]] == "ORLA BAU AG DOOEL"
    values = found("certificates", text)
    assert {name: values[name] for name in ("organization", "issuer", "certificate_id", "standards")} == {
        "organization": "ORLA BAU AG DOOEL",
        "issuer": "KESTREL",
        "certificate_id": "40 QX77 E",
        "standards": "ISO 9001:2015; EN 1090-2:2018",
    }
    assert (values["valid_from"], values["valid_until"]) == ("2024-01-16", "2027-01-20")


def test_the_heads_of_a_mail_are_no_columns_of_other_documents() -> None:
    text = (
        "From: Ada Korn <ada@korn.example>\nTo: Bo Lind <bo@lind.example>, crew@quay.example\nCc: Di Eis <d@e.example>\n"
        "Date: Mon, 3 Mar 2025 10:00:00 +0100\nSubject: Crane 7\n\nHello Bo,\nInvoice number: K-77\n"
    )
    values = found("generic", text)
    assert values["title"] == "Crane 7"
    assert values["author"] == "Ada Korn"
    assert values["published_date"] == "2025-03-03"
    assert values["recipients"] == "Bo Lind; crew@quay.example"
    assert values["copied_to"] == "Di Eis"
    said = extract(BUCKETS["generic"], Source(text, today=TODAY)).fields
    assert all(said[name].confidence >= 0.95 for name in ("title", "author", "published_date"))


def test_minutes_name_who_was_there_and_what_was_decided() -> None:
    text = (
        "Quay committee: minutes\nDate: 4 May 2020\nReference: QC-2020/5\nPresent: Ann Bell, Carl Dorn and Eve Fox\n\n"
        "1. Lamps\nThe committee decided to buy six lamps.\nResolution 2: The gate stays shut at night.\n"
    )
    values = found("generic", text)
    assert values["attendees"] == "Ann Bell; Carl Dorn; Eve Fox"
    assert values["published_date"] == "2020-05-04"
    assert values["reference_number"] == "QC-2020/5"
    assert values["decisions"] == ("The committee decided to buy six lamps.; The gate stays shut at night.")
    assert values["document_language"] == "en"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("OAK TESTING LTD\nCertificate\nThis certifies that\nElm Lamps Inc.\n", "OAK TESTING LTD"),
        ("Certificado\n12\nFaros Ibérica certifica que la organización\nELM, S.A.\n", "Faros Ibérica"),
        ("Der Hersteller:\nElm Leuchten GmbH\nerklärt, dass das Gerät\n", "Elm Leuchten GmbH"),
        ("Applicant: Elm Lamps Inc.\nWe certify that the lamp was tested\n", None),
        ("CERTIFICATE OF MERIT\nOtto Beck\n", None),
        ("| Customer | Elm Lamps Inc. |\nWe certify that the lamp was tested\n", None),
        (
            "Attestation of glass\nThe panes are safe.\nThey hold.\nNone broke.\nOban\nO. Beck\nPane Line SA\n",
            "Pane Line SA",
        ),
        ("Certificate\nLtd\nfor the crew\nof the quay\n", None),
        ("Certificate:\n  Version: 3\n  Number: 7\n  Key: RSA\nElm Trust Ltd\n", None),
        ("Certificate of work\nElm Ltd makes lamps for all of the quay\n", None),
    ],
)
def test_who_certifies(text: str, name: str | None) -> None:
    at = find_certifier(text)
    assert (text[at[0] : at[1]] if at else None) == name


def test_a_certificate_says_its_number_beside_its_title_and_its_days_in_other_languages() -> None:
    text = (
        "ATTESTATION DE CONFORMITÉ N° 12-0388\nProduit certifié :  Lampe PHARO 3\nDemandeur / Applicant:  Elm SARL\n"
        "Référentiel : NF P 92-507\nDate de délivrance : 2 février 2024\nDate d'expiration : 1er février 2029\n"
    )
    said = found("certificates", text)
    assert {name: said[name] for name in ("subject", "organization", "certificate_id", "standards")} == {
        "subject": "Lampe PHARO 3",
        "organization": "Elm SARL",
        "certificate_id": "12-0388",
        "standards": "NF P 92-507",
    }
    assert (said["valid_from"], said["valid_until"]) == ("2024-02-02", "2029-02-01")


def test_a_name_between_title_and_day_is_who_wrote_it() -> None:
    text = "Rules of the Pier\nOld Harbour Swimming Club of Ayr\n3 May 2021\nIn General\nNobody dives here.\n"
    at = find_writer(text, order="DMY", today=TODAY, titles={"Rules of the Pier"})
    assert at is not None
    assert text[at[0] : at[1]] == "Old Harbour Swimming Club of Ayr"


def test_a_mail_that_a_client_printed_in_its_language_has_heads() -> None:
    heads = (
        "Tárgy: A hajó festése, és ami\nmég hátravan\nFeladó: Bodza Kft <iroda@bodza.example>\n"
        "Dátum: 03/05/2021, 14:31\nCímzett: festek@hajo.example\n\nA hajó kész.\n"
    )
    said = found("generic", heads)
    assert said["author"] == "Bodza Kft"
    assert said["recipients"] == "festek@hajo.example"
    assert said["published_date"] == "2021-05-03"
    assert said["title"] == "A hajó festése, és ami még hátravan"
    assert said["document_type"] == "e-mail"
    assert "recipients" not in found("generic", heads.replace("iroda@bodza.example", "iroda"))


def test_a_name_in_a_cell_of_its_own_goes_before_the_words_of_a_heading() -> None:
    text = "Calibration certificate\n\nCustomer data\n\nCustomer      Quay Rowing Club\nDevice        Oar\n"
    assert found("certificates", text)["organization"] == "Quay Rowing Club"


def test_who_certifies_within_a_line_and_the_number_behind_its_sign() -> None:
    text = "CERTIFICATE\n   № KX.07.0044-B\nNote: Elm Oars, Inc. certifies that the oar floats.\n"
    said = found("certificates", text)
    assert (said["certificate_id"], said["issuer"]) == ("KX.07.0044-B", "Elm Oars, Inc.")


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("Faktura – daňový doklad č. 2031-7", "2031-7"),
        ("Elm Boats    Commercial invoice № 88", "88"),
        ("Invoice of 3 May 2031", None),
        ("Invoice 2031", None),
        ("Invoices are due within 30 days of 12", None),
        ("Gauge 7", None),
    ],
)
def test_the_number_ends_the_line_that_says_what_the_document_is(line: str, number: str | None) -> None:
    text = f"Elm Boats Ltd\n{line}\nSails and ropes\n"
    found = find_number(text, ["invoice", "faktura"])
    assert (text[slice(*found[:2])] if found else None) == number
