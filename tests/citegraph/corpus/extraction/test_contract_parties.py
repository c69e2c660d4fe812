"""Parties of contracts and their roles: by what closes a name, by the block that a role heads, and what a title says of the kind."""

from datetime import date

import pytest

from citegraph.corpus.extraction.contract_parties import find_parties
from citegraph.corpus.extraction.engine import Source, extract
from citegraph.corpus.schema.bucket import load_buckets, show

CONTRACTS = load_buckets()["contracts"]
PHRASES = ["by and between", "between", "entre", "zwischen"]


@pytest.mark.parametrize(
    ("text", "parties"),
    [
        (
            'made between Elm Media, Inc., of 12 Quay Road, Oban ("Owner") and PLAN_C SOUND AG ("plan_c"). Elm runs a "Service" ("Service").',
            [("Elm Media, Inc.", "Owner"), ("PLAN_C SOUND AG", "plan_c")],
        ),
        (
            'AGREEMENT BETWEEN\nELM CORP AND OAK LTD\n\nThis deed is between Elm Corp ("Elm") of 9 High Street, Ayr and Oak Ltd ("Oak").',
            [("Elm Corp", "Elm"), ("Oak Ltd", "Oak")],
        ),
        (
            "LEASE\nby and between:\nLANDLORD:\nMr Otto Beck\n9 Mole Lane, Ayr\nTENANT:\nida kroll\n3 Pier, Ayr\n",
            [("Mr Otto Beck", "Landlord"), ("ida kroll", "Tenant")],
        ),
        (
            "ENTRE:\nPRIMEIRA PARTE / OFICINA: Lagos e Brito, com sede em Faro, doravante designada por “Oficina”.\n"
            "SEGUNDA PARTE / ENCOMENDANTE: MARISCOS DO SUL LDA, com sede em Olhão, doravante designada por “Encomendante”.\n"
            "1.1. Os trabalhos são da Grande Oficina Naval, doravante “Obras”.",
            [("Lagos e Brito", "Oficina"), ("MARISCOS DO SUL LDA", "Encomendante")],
        ),
        (
            "TILAUSSOPIMUS\n\nSAVUN PAJA OY, y-tunnus 77 (jäljempänä Paja) ja Koivu Talo AB, nro 88 (jäljempänä Tilaaja) sopivat.\n"
            + "Paja toimittaa ja Tilaaja maksaa.\n" * 6,
            [("SAVUN PAJA OY", "Paja"), ("Koivu Talo AB", "Tilaaja")],
        ),
        (
            "Purpose: Kestrel Software, Inc. (“Kestrel”) asks people. You (the “Receiving Party”) keep it.",
            [("Kestrel Software, Inc.", "Kestrel")],
        ),
        (
            "conclu entre : Orla SAS immatriculée au RCS de Brest (le “Prestataire”) et Quai Ouest SARL, dont le siège est à Brest (le “Client”).",
            [("Orla SAS", "Prestataire"), ("Quai Ouest SARL", "Client")],
        ),
        (
            "Disputes between you and Kestrel will not be decided by a judge but by an arbiter of the town and Kestrel.",
            [],
        ),
        (
            'by and between Oak LLC, an Ohio company ("Buyer"), 44 Pier LLC, an Ohio company ("Pier"), Ida Kroll, a natural person, '
            'the Kroll Family Trust u/a/d 1/2/12, and Otto Beck, a natural person (collectively, the "Holders"), and Oak, Pier '
            'and Ida Kroll (collectively, the "Signers").',
            [
                ("Oak LLC", "Buyer"),
                ("44 Pier LLC", "Pier"),
                ("Ida Kroll", "Holders"),
                ("Kroll Family Trust", "Holders"),
                ("Otto Beck", "Holders"),
                ("Ida Kroll", "Signers"),
            ],
        ),
        (
            'Terms of hire\nFrom: M/s. Elm Traders, having its office at Leeds, Yorkshire (hereinafter the "Client"),',
            [("Elm Traders", "Client")],
        ),
        ("made by and between Landlord and Resident, upon the terms below.", []),
        ("SELLER: ______________\nBUYER: [name]\n", []),
        (
            "De una parte, D. Otto Beck, con DNI 1, en nombre y representación de FAROS DEL SUR, S.A., con sede en Vigo, en "
            "adelante, el ARRENDADOR.\n\nDe otra parte, Dña. Ida Kroll Vega, mayor de edad (en adelante, la «ARRENDATARIA»).",
            [("FAROS DEL SUR, S.A.", "ARRENDADOR"), ("Ida Kroll Vega", "ARRENDATARIA")],
        ),
        (
            'between Elm Ltd HK ("ELM"), an Ohio Corporation, (hereinafter "Elm"), and OAKS, Inc. (hereinafter "OAKS").',
            [("Elm Ltd", "ELM"), ("OAKS, Inc.", "OAKS")],
        ),
        (
            'among THE HERON COMPANY and its kin (hereinafter "Heron") and THE EGRET COMPANY and its kin (hereinafter "Egret").',
            [("HERON COMPANY", "Heron"), ("EGRET COMPANY", "Egret")],
        ),
        (
            "Ondergetekenden:\n\n1. Stichting Kade, te Breskens, hierna te noemen: 'Huurder';\n\n2. Otto van der Beek, hierna "
            "'Verhuurder';\n\nhierna samen: 'Partijen';",
            [("Stichting Kade", "Huurder"), ("Otto van der Beek", "Verhuurder")],
        ),
        (
            "ENTRE LES SOUSSIGNÉS :\nLa société ORLA, SARL au capital de 1 euro, ci-après « le Bailleur »,\net\nMadame Ida Kroll "
            "et Monsieur Otto Beck, ci-après désignés « les Preneurs ».",
            [("ORLA, SARL", "Bailleur"), ("Ida Kroll", "Preneurs"), ("Otto Beck", "Preneurs")],
        ),
    ],
)
def test_who_the_parties_are(text: str, parties: list[tuple[str, str]]) -> None:
    found = find_parties(text, PHRASES)
    assert [(" ".join(text[one.start : one.end].split()), one.role) for one in found] == parties


def test_roles_are_a_field_beside_the_names() -> None:
    text = 'LEASE AGREEMENT\nmade on this 3 March 2024, ("Effective Date"), until 31 July 2024, by and between Elm Ltd ("Landlord") and Ida Kroll ("Tenant").'
    fields = extract(CONTRACTS, Source(text, today=date(2026, 1, 1))).fields
    said = {name: show(found.best.value) for name, found in fields.items()}
    assert said["parties"] == "Elm Ltd; Ida Kroll"
    assert said["party_roles"] == "Elm Ltd (Landlord); Ida Kroll (Tenant)"
    assert said["effective_date"] == "2024-03-03"
    assert said["contract_type"] == "Lease"


def test_a_kind_is_told_by_the_title_and_not_by_what_is_mentioned() -> None:
    text = "Crew rules\n\nA lease agreement or a supply agreement needs two signatures.\n"
    assert "contract_type" not in extract(CONTRACTS, Source(text, today=date(2026, 1, 1))).fields


@pytest.mark.parametrize(
    ("text", "kind", "parties"),
    [
        (
            "UMOWA NAJMU\nzawarta dnia 3 maja 2021 r. pomiędzy Bryza Sp. z o.o. oraz Jan Wilk\n§ 1 Lokal\n",
            "Lease",
            "Bryza Sp. z o.o; Jan Wilk",
        ),
        (
            "HYRESAVTAL\nmellan Tallbacken Fastigheter AB och Ida Kroll\n§ 1 Lokalen\n",
            "Lease",
            "Tallbacken Fastigheter AB; Ida Kroll",
        ),
        ("業務委託契約\n第1条 目的\n", "Service", None),
    ],
)
def test_contracts_in_other_languages(text: str, kind: str, parties: str | None) -> None:
    found = extract(CONTRACTS, Source(text, today=date(2026, 1, 1))).fields
    assert show(found["contract_type"].best.value) == kind
    assert (show(found["parties"].best.value) if "parties" in found else None) == parties
