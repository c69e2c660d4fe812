"""Value linking: spellings, initials, legal forms, typos, subsets, ambiguity and what must not link."""

import pytest

from citegraph.corpus.linking.linker import ValueLinker, is_contraction
from citegraph.corpus.linking.name_search import Lexicon
from citegraph.corpus.records.annotations.annotation_store import AnnotationStore
from citegraph.corpus.records.database import keeping
from citegraph.corpus.schema.bucket import load_buckets
from citegraph.language.names import parse_name, tokens

VENDORS = [
    "QUICK MART S/B",
    "Dr. A.B.C. (North) Sdn Bhd",
    "DR A. B. C. (SOUTH) SDN BHD",
    "Orchard Bakeries (KL) Sdn Bhd",
    "ORCHARD BAKERIES (KI ) SDN BHD",
    "Tallinga International Ltd",
    "Halvorsen & Sons GmbH",
    "Büchner Verlag KG",
    "Target Corporation",
    "Domingo's Grill",
    "Peak Book Co. (M) Sdn Bhd",
    "Meridian Foods Inc.",
    "Meridian Foods Europe SARL",
    "Lantern Digital River LLC",
    "Lantern Analytics Group LLC",
    "Tar of Marble Ltd",
    "Old Marble Works Ltd",
    "Peoples Savings Ltd",
    "Peoples Haulage of Tarn Ltd",
]
LAWS = [
    "New York",
    "Delaware",
    "People's Republic of China",
    "England, United Kingdom; Wales, United Kingdom",
]


@pytest.fixture(scope="module")
def linker(tmp_path_factory):
    buckets = load_buckets()
    url = f"sqlite:///{tmp_path_factory.mktemp('linking') / 'a.sqlite'}"
    store = AnnotationStore(url, buckets)
    filler = [f"Vendor{word}" for word in "abcdefghij"]
    rows = [
        (f"v{n}", {"vendor_name": name, "vendor_country": "DE"}) for n, name in enumerate(VENDORS + filler)
    ]
    rows.append(("n1", {"vendor_name": "Meridian Foods Inc.", "invoice_number": "RX-2020/17"}))
    store.put("invoices", rows)
    law = buckets["contracts"].field("governing_law")
    store.put(
        "contracts",
        [
            (f"c{n}", {"governing_law": tuple(text.split("; ")), "contract_type": "License"})
            for n, text in enumerate(LAWS)
        ],
    )
    assert law.kind == "jurisdiction"
    store.put(
        "generic",
        [
            ("g1", {"package": "spin"}),
            ("g2", {"package": "tokio-rustls"}),
            ("g3", {"package": "tokio"}),
            ("g4", {"package": "id-map"}),
        ],
    )
    return ValueLinker(store)


def linked(linker, bucket, question, field):
    return [
        (link.text, link.values) for link in linker.find_mentions(bucket, question) if link.field == field
    ]


@pytest.mark.parametrize(
    ("question", "text", "values"),
    [
        ("what did Quickmart charge us", "Quickmart", {"QUICK MART S/B"}),
        ("the Dr ABC receipts of May", "Dr ABC", {VENDORS[1], VENDORS[2]}),
        ("slips of Dr. A. B. C. (South)", "Dr. A. B. C. (South", {VENDORS[2]}),
        ("Orchard Bakery spend in 2017", "Orchard Bakery", {VENDORS[3], VENDORS[4]}),
        ("orcherd bakeries total", "orcherd bakeries", {VENDORS[3], VENDORS[4]}),
        ("Tal Linga bills", "Tal Linga", {"Tallinga International Ltd"}),
        ("Rechnungen der Halvorsen und Sons", "Halvorsen und Sons", {"Halvorsen & Sons GmbH"}),
        ("Buchner Verlag invoices", "Buchner Verlag", {"Büchner Verlag KG"}),
        ("Domingo's slip", "Domingo's", {"Domingo's Grill"}),
        ("books from Peak bookstore", "Peak bookstore", {"Peak Book Co. (M) Sdn Bhd"}),
        ("Meridian Foods invoices", "Meridian Foods", {"Meridian Foods Inc.", "Meridian Foods Europe SARL"}),
        ("invoices of Meridian Foods Inc.", "Meridian Foods Inc", {"Meridian Foods Inc."}),
    ],
)
def test_spellings_of_one_vendor_are_linked_together(linker, question, text, values):
    ((found, names),) = linked(linker, "invoices", question, "vendor_name")
    assert (found, set(names)) == (text, values)


@pytest.mark.parametrize(
    "question",
    [
        "list every receipt of March",
        "how much did we spend on a shop",
        "what is the total of all invoices",
        "Acmeron bills",
    ],
)
def test_ordinary_words_link_to_no_vendor(linker, question):
    assert linked(linker, "invoices", question, "vendor_name") == []


def test_an_ordinary_word_that_is_a_name_scores_low_unless_it_is_written_as_one(linker):
    (low,) = [
        x
        for x in linker.find_mentions("invoices", "We hit the target in June?", floor=0)
        if x.field == "vendor_name"
    ]
    (high,) = linker.find_mentions("invoices", "Our Target bills?", fields=["vendor_name"])
    assert low.score < 0.6 < high.score


def test_a_name_that_fits_two_vendors_links_both(linker):
    (link,) = linker.find_mentions("invoices", "the Lantern invoices", fields=["vendor_name"])
    assert not link.complete
    assert set(link.values) == {"Lantern Digital River LLC", "Lantern Analytics Group LLC"}


def test_the_whole_name_is_preferred_to_longer_ones(linker):
    (link,) = linker.find_mentions("generic", "advisories of the tokio crate", fields=["package"])
    assert (link.values, link.cued) == (("tokio",), True)


def test_a_cue_beside_an_ordinary_word_makes_it_a_name(linker):
    (cued,) = linker.find_mentions("generic", "All advisories for the spin crate", fields=["package"])
    assert cued.values == ("spin",)
    assert cued.score > 0.6
    (plain,) = linker.find_mentions("generic", "Who takes it for a spin?", fields=["package"], floor=0)
    assert plain.score < 0.6


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("contracts under Chinese law", {"People's Republic of China"}),
        ("NDAs governed by new york law", {"New York"}),
        ("Delaware agreements", {"Delaware"}),
        ("English law contracts", {"England, United Kingdom"}),
    ],
)
def test_laws_are_linked_by_name_and_demonym(linker, question, values):
    found = linked(linker, "contracts", question, "governing_law")
    assert values <= {value for _, names in found for value in names}


def test_declared_synonyms_are_linked_to_their_value(linker):
    assert linked(linker, "contracts", "two-year NDAs please", "contract_type") == [
        ("NDAs", ("Non-Disclosure",))
    ]
    assert linked(linker, "contracts", "a licence agreement", "contract_type") == [
        ("licence agreement", ("License",))
    ]


def test_countries_are_linked_to_codes_with_their_count(linker):
    (link,) = linker.find_mentions("invoices", "German suppliers", fields=["vendor_country"])
    assert (link.values, link.count) == (("DE",), len(VENDORS) + 10)


def test_identifiers_are_linked_whole(linker):
    (link,) = linker.find_mentions("invoices", "status of rx-2020/17?", fields=["invoice_number"])
    assert (link.values, link.how, link.score) == (("RX-2020/17",), "folded", 1.0)


def test_within_a_run_a_question_is_looked_through_once(linker):
    asked = "bills of Wexcombe Tannery"
    with keeping({}):
        assert linker.find_mentions("invoices", asked) == []
        linker.find_mentions("invoices", asked).append("changed by who asked")
        linker.store.put("invoices", [("w1", {"vendor_name": "Wexcombe Tannery"})])
        assert linker.mentions_in(["generic", "invoices"], asked) == {"generic": [], "invoices": []}
    (found,) = linker.find_mentions("invoices", asked)
    assert found.values == ("Wexcombe Tannery",)
    linker.store.delete("invoices", ["w1"])


def test_changed_values_are_seen(linker):
    linker.store.put("datasheets", [("s1", {"product": "Zylovent 900"})])
    assert linked(linker, "datasheets", "is the zylovent 900 toxic", "product")
    linker.store.delete("datasheets", ["s1"])
    assert not linked(linker, "datasheets", "is the zylovent 900 toxic", "product")


def test_names_of_the_same_words_weigh_the_same_in_any_order():
    words = "Alder Brook Cinder Dale Ember Forge Gable Harbour".split()
    names = [" ".join(words[place:] + words[:place]) for place in range(len(words))]
    filler = [f"{word} {number}x" for number, word in enumerate(words[:5])]
    rows = [("vendor_name", name, name.lower(), 1) for name in (*names, *filler)]
    entries = Lexicon(load_buckets()["invoices"], rows).entries
    assert len({entry.mass for entry in entries[: len(names)]}) == 1


def test_a_mention_is_linked_as_a_whole(linker):
    (link,) = linker.link("invoices", "Orchard Bakeries", fields=["vendor_name"])
    assert set(link.values) == {VENDORS[3], VENDORS[4]}
    assert linker.link("invoices", "Zzyzx Quorp") == []


@pytest.mark.parametrize(
    "question", ["", "'; DROP TABLE meta_values; --", "%_%", "\x00", "a" * 100_000, "( " * 3000]
)
def test_hostile_text_links_to_nothing(linker, question):
    assert linker.find_mentions("invoices", question, fields=["vendor_name"]) == []


def test_names_have_a_core_qualifiers_and_a_legal_form():
    name = parse_name("MR. D.I.Y. (M) SDN. BHD.")
    assert (name.core, name.qualifiers, name.legal) == (("mr", "diy"), {"m"}, {"sdn", "bhd"})
    assert parse_name("Fabbrica S.p.A.").legal == {"spa"}
    assert [token.text for token in tokens("C W Koh's")] == ["cw", "kohs"]


@pytest.mark.parametrize(
    ("written", "short"),
    [
        ("Fabryka Mebli Spółka z ograniczoną odpowiedzialnością", "Fabryka Mebli Sp. z o.o."),
        ("Huta Nowa spółka akcyjna", "Huta Nowa S.A."),
        ("Muster Gesellschaft mit beschränkter Haftung", "Muster GmbH"),
        ("Northbridge Limited Liability Company", "Northbridge LLC"),
        ("Boulangerie Petit, société à responsabilité limitée", "Boulangerie Petit SARL"),
    ],
)
def test_a_legal_form_that_is_written_out_is_the_short_one(written: str, short: str) -> None:
    assert parse_name(written) == parse_name(short)
    assert parse_name("Aktiengesellschaft").core == ("aktiengesellschaft",)


def test_a_name_with_two_letters_swapped_is_the_same_name(linker, tmp_path):
    store = AnnotationStore(f"sqlite:///{tmp_path / 'swapped.sqlite'}", load_buckets())
    names = ["Tallinga International Ltd", "Tallniga Ltd", "Tallinda Ltd", "Orchard Bakeries"]
    store.put("invoices", [(f"v{n}", {"vendor_name": name}) for n, name in enumerate(names)])
    [link] = ValueLinker(store).find_mentions("invoices", "What did Tallinga charge us?")
    assert set(link.values) == {"Tallinga International Ltd", "Tallniga Ltd"}


@pytest.mark.parametrize(
    ("bucket", "question", "field", "value"),
    [
        ("invoices", "alle Gutschriften von 2018", "document_type", "credit note"),
        ("invoices", "Summe der Mietrechnungen", "document_type", "hire invoice"),
        ("invoices", "les notes de crédit de mai", "document_type", "credit note"),
        ("invoices", "deux factures d'acompte", "document_type", "prepayment invoice"),
        ("invoices", "how many debit memos", "document_type", "debit note"),
        ("datasheets", "alle Sicherheitsdatenblätter", "document_type", "safety data sheet"),
    ],
)
def test_declared_synonyms_are_found_in_every_form(linker, bucket, question, field, value):
    assert [values for _, values in linked(linker, bucket, question, field)] == [(value,)]


@pytest.mark.parametrize("question", ["Mieterrechnung", "the crediting note", "Bonner Steuern", "Belegung"])
def test_other_words_with_the_same_beginning_are_no_synonyms(linker, question):
    assert linked(linker, "invoices", question, "document_type") == []


def test_a_company_takes_an_s_and_a_thing_takes_every_ending(tmp_path):
    store = AnnotationStore(f"sqlite:///{tmp_path / 'a.sqlite'}", load_buckets())
    store.put(
        "invoices",
        [
            (f"i{n}", {"vendor_name": name})
            for n, name in enumerate(["Werk Kroll", "Sonnek", "Filler", "Zwonitz"])
        ],
    )
    store.put("datasheets", [("d1", {"manufacturer": "Kroll", "component_type": "Drehgeber"})])
    linker = ValueLinker(store)
    assert [v for _, v in linked(linker, "invoices", "Krolls Rechnungen", "vendor_name")] == [("Werk Kroll",)]
    assert [v for _, v in linked(linker, "invoices", "Sonneks invoices", "vendor_name")] == [("Sonnek",)]
    assert linked(linker, "invoices", "die Krollen", "vendor_name") == []


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("contrats de transport", "Transportation"),
        ("transport contracts of 2020", "Transportation"),
        ("unsere Transportverträge", "Transportation"),
        ("contracts for the supply of seed", "Supply"),
        ("l'accord de licence", "License"),
    ],
)
def test_a_kind_is_meant_beside_any_word_for_the_documents(linker, question, value):
    (link,) = linker.find_mentions("contracts", question, fields=["contract_type"])
    assert (link.values, link.complete) == ((value,), True)


@pytest.mark.parametrize(
    "question",
    [
        "the transport of goods by agreement of both",
        "Transporte und Verträge",
        "todos los contratos y acuerdos",
        "elenca i contratti e gli accordi",
        "alle overeenkomsten",
    ],
)
def test_the_word_of_a_kind_alone_is_none(linker, question):
    assert linker.find_mentions("contracts", question, fields=["contract_type"]) == []


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("contracts under NY law", "New York"),
        ("contrats soumis au droit delawarien", "Delaware"),
        ("contratos bajo ley de Delaware", "Delaware"),
    ],
)
def test_a_law_is_said_by_adjective_and_code(linker, question, value):
    assert [
        link.values for link in linker.find_mentions("contracts", question, fields=["governing_law"])
    ] == [(value,)]


def test_a_code_of_a_state_away_from_the_law_is_none(linker):
    assert linker.find_mentions("contracts", "contracts signed IN NY OR elsewhere") == []


@pytest.mark.parametrize(
    ("said", "small"), [("I'd", True), ("we’re", True), ("Domino's", False), ("ID", False)]
)
def test_two_small_words_run_together_are_no_name(said, small):
    assert is_contraction(said) is small


def test_a_contraction_is_linked_to_nothing(linker):
    assert linker.find_mentions("generic", "I'd like a list") == []


@pytest.mark.parametrize("word", ["allemandes", "deutschem", "alemanes", "tedesche", "Duitse", "Alemania"])
def test_demonyms_of_six_languages_are_known(linker, word):
    (link,) = linker.find_mentions("invoices", f"xx {word} xx", fields=["vendor_country"])
    assert link.values == ("DE",)


def test_a_fields_own_abbreviation_is_no_country(linker):
    linker.store.put("certificates", [("x1", {"subject": "Root", "country": "CN"})])
    assert linker.find_mentions("certificates", "roots that lack a CN", fields=["country"]) == []
    linker.store.delete("certificates", ["x1"])


@pytest.mark.parametrize(
    ("code", "whole", "field"),
    [("RX-2020", True, "invoice_number"), ("RX-20", True, None), ("RX-20", False, "invoice_number")],
)
def test_the_beginning_of_several_numbers_is_known(linker, code, whole, field):
    linker.store.put("invoices", [(f"b{n}", {"invoice_number": f"RX-2020/{n}"}) for n in (31, 32)])
    assert linker.begun("invoices", code, whole=whole) == field
    assert linker.begun("invoices", "RX-2020/3", whole=True) is None
    assert linker.begun("invoices", "RX-2020/31", whole=False) is None, "one number is no family"
    assert linker.begun("invoices", "RX-2020/31", whole=False, least=1) == "invoice_number"
    linker.store.delete("invoices", ["b31", "b32"])


@pytest.mark.parametrize(
    ("asked", "values"),
    [
        ("What did the marble invoices of May come to?", ()),  # inside two names, the beginning of none
        ("What did Meridian Foods bill?", ("Meridian Foods Europe SARL", "Meridian Foods Inc.")),
        ("Which invoices do we have from people in May?", ()),  # an ordinary word, though "from" stands before it
        ("Which invoices do we have from Peoples in May?", ("Peoples Haulage of Tarn Ltd", "Peoples Savings Ltd")),
        ("Which invoices do we have from Target Corporation?", ("Target Corporation",)),
    ],
)  # fmt: skip
def test_a_word_of_several_names_is_one_only_where_it_is_written_so(linker, asked, values):
    found = [link for link in linker.find_mentions("invoices", asked) if link.field == "vendor_name"]
    assert tuple(sorted(value for link in found for value in link.values)) == values


def test_a_single_letter_in_another_case_is_no_initial():
    assert [token.text for token in tokens("a P-384 key, D.I.Y.")] == ["a", "p", "384", "key", "diy"]


def test_the_linker_knows_the_words_of_stored_values(linker):
    assert linker.is_part_of_a_value("halvorsen")
    assert not linker.is_part_of_a_value("avrage")


def test_a_code_means_every_title_that_holds_it_whatever_else_is_said(tmp_path):
    store = AnnotationStore(f"sqlite:///{tmp_path / 'a.sqlite'}", load_buckets())
    titles = [
        "QX51S0042, Rev. B, Errata Sheets",
        "QX51S0042, Rev. C Errata Sheet",
        "Moving from QX51S0041 to QX51S0042",
    ]
    store.put(
        "datasheets",
        [(f"d{n}", {"title": title, "document_type": "errata"}) for n, title in enumerate(titles)],
    )
    found = ValueLinker(store).find_mentions(
        "datasheets", "How many errata sheets are there for the QX51S0042?"
    )
    assert [set(link.values) for link in found if link.field == "title"] == [set(titles)]
