"""The ladder on a small lease and a receipt: what it accepts, what it refuses, and the span it shows."""

import pytest

from citegraph.citations.report_types import Derivation, Evidence
from citegraph.citations.verify_answer import Judgement, verify

LEASE = (
    "This Lease is dated May 1, 2023. The Landlord shall pay the Tenant a fee of $1,577 million within "
    "thirty (30) days "
    "of receipt.\nThe Tenant shall not disclose Confidential Information. Either party may terminate "
    "this Lease upon "
    "60 days prior written notice. The governing law is the law of Oregon."
)
SLIP = (
    "NORTH BAKERY SDN BHD\nINVOICE NB-2023/45\nTOTAL ROUNDED  RM 30.90\nCASH  RM 51.00\nCHANGE  RM "
    "20.10\n18-11-18"
)
EVIDENCE = [
    Evidence("c1", "Lease_A.pdf", LEASE, 100, page=2),
    Evidence("c2", "slip-2", SLIP, facts=(("total_amount", "30.90"), ("date", "2018-11-18"))),
]


def verdict(claim: str) -> str:
    claims = verify(claim, EVIDENCE).claims
    assert len(claims) == 1
    return claims[0].verdict


@pytest.mark.parametrize(
    "claim",
    [
        "The Landlord shall pay the Tenant a fee of $1.577 billion within 30 days of receipt [Lease_A.pdf].",
        "The Landlord must pay the Tenant a fee of $1577.00m within thirty days of receipt [c1].",
        "Either party may terminate the contract with 60 days' prior written notice [Lease_A.pdf].",
        "The lease is dated 2023-05-01 [Lease_A.pdf].",
        "The total of invoice NB-2023/45 is RM 30.90 [slip-2].",
    ],
)
def test_a_claim_in_other_words_is_supported(claim: str) -> None:
    assert verdict(claim) == "supported"


@pytest.mark.parametrize(
    "claim",
    [
        "The Tenant shall pay the Landlord a fee of $1,577 million within 30 days of receipt [Lease_A.pdf].",
        "The Landlord shall pay the Tenant a fee of $1,577 within 30 days of receipt [Lease_A.pdf].",
        "The Landlord shall pay the Tenant a fee of $1,577 million within 30 months of receipt "
        "[Lease_A.pdf].",
        "The Landlord shall pay the Tenant a fee of €1,577 million within 30 days of receipt [Lease_A.pdf].",
        "The Landlord may pay the Tenant a fee of $1,577 million within 30 days of receipt [Lease_A.pdf].",
        "The Tenant shall disclose Confidential Information [Lease_A.pdf].",
        "Either party must terminate this Lease upon 60 days prior written notice [Lease_A.pdf].",
        "Either party may terminate this Lease upon 90 days prior written notice [Lease_A.pdf].",
        "The lease is dated 2023-05-02 [Lease_A.pdf].",
        "The total of invoice NB-2023/46 is RM 30.90 [slip-2].",
        "The total is RM 51.00 [slip-2].",
        "The total is 20.10 [slip-2].",
    ],
)
def test_a_claim_with_one_changed_fact_is_contradicted(claim: str) -> None:
    assert verdict(claim) == "contradicted"


QUARRY = Evidence(
    "q",
    "quarry",
    "The operator shall not close the access road without first giving the parish six weeks' notice.\n"
    "Inspection: no grave and two slight defects.\nLot K-4: slabs 1 to 9, 35 x 800 x 1,200 mm, 4,310 kg, slabs 10 to 14 broken",
)


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        (
            "The operator shall close the access road after first giving the parish six weeks' notice [quarry].",
            "supported",
        ),
        ("The inspection found two slight defects [quarry].", "supported"),
        ("Inspection: grave and two slight defects [quarry].", "contradicted"),
        ("Slabs 1 to 9 are 35 mm thick [quarry].", "supported"),
    ],
)
def test_two_negations_and_the_numbers_of_pieces_turn_nothing_round(claim: str, expected: str) -> None:
    (found,) = verify(claim, [QUARRY]).claims
    assert found.verdict == expected


MILL = Evidence(
    "m",
    "mill",
    "Renewable lease; it is renewed in writing. The grain consumer price index is published weekly.\n"
    "Each further berth costs EUR 310 per month. Berth cleaning is charged at EUR 75 per visit plus materials. Cleaning was paid by card ..4471.\n"
    "Range | Milling | Bagging | Storage\nTemperature | 0 to 50 °C | 5 to 35 °C | 15 to 20 °C\n"
    "After-milling moisture: not more than 11 % at 20 °C.\n\n"
    "Output | Unit | 2030 | 2031\nFlour | thousand m³ | 1,214 | 1,302\nBran | thousand m³ | 318 | 297\n"
    "Share, locos (%) | | 64.1 | 62.7\nLocomotives | | 18 | 21\n"
    "Selling, general and administrative | | 41.2 | 43.9",
)


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Renewal is foreseen [mill].", "supported"),
        ("Ploughing is foreseen [mill].", "unsupported"),
        ("The rent follows the index published weekly, the Grain CPI [mill].", "supported"),
        ("The rent follows the index published weekly, the Grain QXI [mill].", "unsupported"),
        ("SG&A were 43.9 in 2031 [mill].", "supported"),
        ("A cleaning of a berth costs EUR 75 plus materials [mill].", "supported"),
        ("Each further berth costs EUR 75 per month [mill].", "contradicted"),
        ("After-milling moisture does not exceed 11 % at 20 °C [mill].", "supported"),
        ("In 2030 the mill made 1,214 thousand m³ of flour and 318 thousand m³ of bran [mill].", "supported"),
        ("The share of locomotives was 62.7 % in 2031 [mill].", "supported"),
        ("The card that paid for the cleaning ends in 4471 [mill].", "supported"),
        ("The card that paid for the cleaning ends in 4417 [mill].", "unsupported"),
    ],
)
def test_forms_of_words_initials_and_scales_refuse_nothing(claim: str, expected: str) -> None:
    (found,) = verify(claim, [MILL]).claims
    assert found.verdict == expected, found.reason


def test_a_claim_of_another_document_is_rebound_to_it() -> None:
    (claim,) = verify("The governing law is the law of Oregon [slip-2].", EVIDENCE).claims
    assert claim.verdict == "misattributed"
    assert (claim.doc_id, claim.quote) == ("Lease_A.pdf", "The governing law is the law of Oregon.")


def test_the_quote_is_the_span_of_the_document() -> None:
    (claim,) = verify(
        "Either party may terminate with 60 days prior written notice [Lease_A.pdf].", EVIDENCE
    ).claims
    assert claim.quote == LEASE[claim.quote_start - 100 : claim.quote_end - 100]
    assert claim.quote.startswith("Either party may terminate")
    assert claim.page == 2


def test_two_glued_sentences_are_not_one() -> None:
    glued = "The Landlord shall pay the Tenant a fee upon 60 days prior written notice [Lease_A.pdf]."
    assert verdict(glued) in ("unsupported", "contradicted")


def test_a_computed_number_is_derived_with_its_formula() -> None:
    sums = Derivation("81.90", "sum(total) over 2 documents", "sum", ("30.90", "51.00"))
    (claim,) = verify("Both receipts come to RM 81.90 [slip-2].", EVIDENCE, derivations=[sums]).claims
    assert (claim.verdict, claim.formula) == ("derived", "sum(total) over 2 documents")
    wrong = Derivation("91.90", "sum(total) over 2 documents", "sum", ("30.90", "20.10"))
    (claim,) = verify("Both receipts come to RM 91.90 [slip-2].", EVIDENCE, derivations=[wrong]).claims
    assert claim.verdict == "contradicted"


def test_precision_and_recall_of_an_answer() -> None:
    answer = (
        "The lease is dated 1 May 2023 [Lease_A.pdf]. The law is that of Nevada [Lease_A.pdf]. It ends "
        "in 2099 [ghost-9]."
    )
    report = verify(answer, EVIDENCE)
    assert (len(report.claims), report.unknown_markers) == (3, ("ghost-9",))
    assert report.recall == pytest.approx(1 / 3)
    assert report.precision == pytest.approx(1 / 3)


def test_the_judge_sees_claim_and_evidence_and_decides_what_words_cannot() -> None:
    asked: list[tuple[str, str]] = []

    def judge(claim: str, evidence: str) -> Judgement:
        asked.append((claim, evidence))
        return Judgement("supported", "same meaning")

    claim = "Tenants must keep Confidential Information secret from strangers [Lease_A.pdf]."
    (judged,) = verify(claim, EVIDENCE, judge=judge).claims
    assert (judged.verdict, judged.reason) == ("supported", "same meaning")
    assert asked == [("Tenants must keep Confidential Information secret from strangers.", LEASE)]


def test_the_judge_is_not_asked_about_hard_facts() -> None:
    def judge(claim: str, evidence: str) -> Judgement:
        raise AssertionError(claim)

    claim = "Either party may terminate this Lease upon 90 days prior written notice [Lease_A.pdf]."
    assert verify(claim, EVIDENCE, judge=judge).claims[0].verdict == "contradicted"


@pytest.mark.parametrize(
    ("claim", "formula"),
    [
        ("Cash and change differ by RM 30.90 in total, which is RM 20.10 less than RM 51.00 [slip-2].", None),
        ("The cash was RM 20.10 more than the total [slip-2].", None),
        ("Total and cash together come to a sum of RM 81.90 [slip-2].", "RM 30.90 + RM 51.00"),
    ],
)
def test_numbers_derived_from_the_passage(claim: str, formula: str | None) -> None:
    found = verify(claim, EVIDENCE).claims[0]
    if formula:
        assert (found.verdict, found.formula) == ("derived", formula)


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        (
            'The lease says: "The Tenant shall not disclose Confidential Information" [Lease_A.pdf].',
            "supported",
        ),
        (
            'The lease says: "The Tenant shall never disclose Confidential Information" [Lease_A.pdf].',
            "unsupported",
        ),
        ('The lease says: "The Tenant shall not disclose the law of Oregon" [Lease_A.pdf].', "unsupported"),
    ],
)
def test_a_quotation_must_stand_in_the_source_in_one_piece(claim: str, expected: str) -> None:
    assert verdict(claim) == expected


@pytest.mark.parametrize(
    ("quotation", "expected"),
    [
        ("Payable by 03/09/2021", "supported"),  # glued to the telephone number of the next column
        ("the prepayment of all rates", "supported"),  # parted at the end of a line
        ("payment of all rates", "unsupported"),  # half a word
        ("Payable by 03/09/202", "contradicted"),  # half a number
    ],
)
def test_a_quotation_is_sought_without_what_a_page_glues_and_parts(quotation: str, expected: str) -> None:
    page = Evidence("c9", "bill", "Tel. 07 55 61Payable by 03/09/2021\nafter the prepay-\nment of all rates")
    (claim,) = verify(f"The bill says “{quotation}” [bill].", [page]).claims
    assert claim.verdict == expected


def test_an_annotation_backs_a_claim_and_the_quote_is_document_text() -> None:
    (claim,) = verify("The date is 18 November 2018 [slip-2].", EVIDENCE).claims
    assert (claim.verdict, claim.quote) == ("supported", "18-11-18")


def test_two_documents_back_one_claim_together() -> None:
    answer = "The lease is dated May 1, 2023 and the bakery invoice NB-2023/45 totals RM 30.90 [Lease_A.pdf] [slip-2]."
    (claim,) = verify(answer, EVIDENCE).claims
    assert claim.verdict == "supported"
    assert claim.backed_by == ("Lease_A.pdf", "slip-2")


GERMAN = Evidence(
    "g1",
    "vertrag.md",
    "Der Käufer muss den Kaufpreis von 1.234,56 € innerhalb von 30 Tagen an den Verkäufer zahlen. Der Vertrag "
    "verlängert sich nicht automatisch. Die Kündigungsfrist beträgt drei Monate. Ausgestellt am 3. Mai 2021.",
)
FRENCH = Evidence(
    "f1",
    "contrat.pdf",
    "Le contrat est conclu le 1er mai 2023 pour une durée de vingt-quatre mois. Le fournisseur doit livrer dans un délai "
    "de 15 jours. Le client ne peut pas céder le contrat sans accord.",
)


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Der Käufer zahlt 1234,56 EUR innerhalb von 30 Tagen an den Verkäufer [vertrag.md].", "supported"),
        (
            "Der Verkäufer muss den Kaufpreis von 1.234,56 € innerhalb von 30 Tagen an den Käufer zahlen [vertrag.md].",
            "contradicted",
        ),
        (
            "Der Käufer kann den Kaufpreis von 1.234,56 € innerhalb von 30 Tagen an den Verkäufer zahlen [vertrag.md].",
            "contradicted",
        ),
        ("Der Vertrag verlängert sich automatisch [vertrag.md].", "contradicted"),
        ("Die Kündigungsfrist beträgt 3 Monate [vertrag.md].", "supported"),
        ("Die Kündigungsfrist beträgt 3 Wochen [vertrag.md].", "contradicted"),
        ("Le contrat est conclu le 01/05/2023 pour 24 mois [contrat.pdf].", "supported"),
        ("Le fournisseur peut livrer dans un délai de 15 jours [contrat.pdf].", "contradicted"),
        ("Le client peut céder le contrat sans accord [contrat.pdf].", "contradicted"),
    ],
)
def test_german_and_french(claim: str, expected: str) -> None:
    assert [c.verdict for c in verify(claim, [GERMAN, FRENCH]).claims] == [expected]


REPORT = Evidence(
    "r1",
    "10k",
    "Consolidated results (in millions)\nNet sales 1,577 1,432\nOperating income 212 198\nOrveta Corp acquired Lindholm "
    "LLC in March 2022 for $45.5 million in cash. The goods are delivered by the Seller to the Buyer at the port.",
)


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Net sales were $1.577 billion [10k].", "supported"),
        ("Net sales were $1,577 thousand [10k].", "contradicted"),
        ("Orveta bought Lindholm for $45.5 million in March 2022 [10k].", "supported"),
        ("Lindholm was acquired by Orveta Corp in March 2022 for $45.5 million [10k].", "supported"),
        ("Lindholm acquired Orveta in March 2022 for $45.5 million [10k].", "contradicted"),
        ("Orveta acquired Lindholm for $45.5 billion in March 2022 [10k].", "contradicted"),
        ("The Seller delivers the goods to the Buyer at the port [10k].", "supported"),
        ("The Buyer delivers the goods to the Seller at the port [10k].", "contradicted"),
    ],
)
def test_tables_voices_and_scales(claim: str, expected: str) -> None:
    assert [c.verdict for c in verify(claim, [REPORT]).claims] == [expected]


def test_table_cells_are_held_against_their_row() -> None:
    table = "| Item | Value | Source |\n|---|---|---|\n| Net sales | 1,577 | [10k] |\n| Operating income | 1,577 | [10k] |"
    found = [(c.text, c.verdict) for c in verify(table, [REPORT]).claims]
    assert found == [("Net sales | 1,577", "supported"), ("Operating income | 1,577", "contradicted")]


def test_emphasis_in_source_or_answer_is_no_part_of_a_quotation() -> None:
    source = [
        Evidence(
            "g1", "guide.md", "**How to update.** Choose the loggers in the portal and _start_ the update."
        )
    ]
    plain = "“How to update. Choose the loggers in the portal and start the update.” [guide.md]"
    bold = "“**How to update.** Choose the loggers in the portal and start the update.” [guide.md]"
    for answer in (plain, bold):
        assert [claim.verdict for claim in verify(answer, source).claims] == ["supported"]


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("The fee is 2 EUR", "2. Fees\n\nThe fee is 5 EUR a page."),
        ("The fee is 2 percent", "## 2) Fees\nThe fee is five percent of the price."),
        ("The weight is 3 kg", "3.1 Weight\nThe weight is 7 kg."),
        ("Renewal term: 4 years", "(4) The agreement renews for five years."),
        ("The notice period is 7 days", "The notice period of section 7 is thirty days."),
    ],
)
def test_the_number_of_a_heading_measures_nothing(claim: str, text: str) -> None:
    (said,) = verify(f"{claim} [d].", [Evidence("d:0", "d", text)]).claims
    assert said.verdict in ("contradicted", "unsupported")


def test_an_annotation_is_shown_where_its_value_has_its_unit() -> None:
    text = "1. Term\n\nThis Agreement renews for one year.\n\n2. Notice"
    evidence = [Evidence("d:0", "d", text, facts=(("renewal_term", "1 year"),))]
    (said,) = verify("Renewal term: 1 year [d].", evidence).claims
    assert (said.verdict, said.quote) == ("supported", "This Agreement renews for one year.")


def test_a_unit_in_a_cell_of_its_own_is_a_unit() -> None:
    text = "Parameter | Symbol | Value | Unit\nCollector current | IC | 100 | mA\nWeight | G | 3 | g"
    (said,) = verify("The collector current is 100 mA [d].", [Evidence("d:0", "d", text)]).claims
    assert said.verdict == "supported"


INVOICE = """Consulting services 2,000.00 EUR
Net amount 2,000.00 EUR
VAT 19% 380.00 EUR
Total 2,380.00 EUR
Please pay the total of 2,390.00 EUR by June."""
INVOICE_VALUES = (("net_amount", "2000.00 EUR"), ("total_amount", "2380.00 EUR"))


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("Total amount: 2,380.00 EUR", "supported"),
        ("Net amount: 2,000.00 EUR", "supported"),
        ("Total amount: 2,390.00 EUR", "supported"),
        ("Net amount: 2,380.00 EUR", "contradicted"),
    ],
)
def test_a_value_is_held_against_its_own_label(claim: str, verdict: str) -> None:
    # "Net amount" has more words of the claim than "Total", yet it is another thing.
    evidence = [Evidence("e", "d", INVOICE, facts=INVOICE_VALUES)]
    assert [item.verdict for item in verify(f"{claim} [d].", evidence).claims] == [verdict]


@pytest.mark.parametrize(
    ("codes", "verdict"),
    [
        ("H301-H304 and H319", "supported"),
        ("H301, H304 and H319", "supported"),
        ("H301, H319 and H336", "contradicted"),
        ("H299 and H319", "contradicted"),
    ],
)
def test_a_code_of_one_letter_must_stand_in_the_source(codes: str, verdict: str) -> None:
    sheet = [
        Evidence("x", "a", "Hazard statements: H301-H304 Toxic if swallowed. H319 Causes eye irritation.")
    ]
    report = verify(f"The hazard statements are {codes} [a].", sheet)
    assert [claim.verdict for claim in report.claims] == [verdict]


# ---------------------------------------------------------------- the passages that a writer points at

FILLER = " ".join(f"Matter {number} is kept in good order by whoever holds it." for number in range(75))
HEAD = f"Harbour Supply Deed between Orrin Freight Ltd and Quayside Stores Ltd, notices and deliveries.\n{FILLER}"
CLAUSE = f"{FILLER}\nNotices take effect on the second working day after they are handed over."
DEED = HEAD + "\n\n" + CLAUSE
SPANS = [
    Evidence("d:0", "deed", HEAD, 0, cut=(False, True)),
    Evidence("d:1", "deed", CLAUSE, len(HEAD) + 2, cut=(True, False)),
]
NOTICE = "Under the Harbour Supply Deed between Orrin Freight Ltd and Quayside Stores Ltd notices work two working days later"
CLAUSE_PLACE = ("deed", len(DEED) - 60, len(DEED))


def judged_by(pointed: dict[str, list[tuple[str, int, int]]] | None) -> tuple[str, str]:
    """Return the evidence that a judge is shown for the notice, and the span that the claim then cites."""
    shown: list[str] = []

    def judge(claim: str, evidence: str) -> Judgement:
        shown.append(evidence)
        return Judgement("supported", "it says so")

    (claim,) = verify(f"{NOTICE} [deed].", SPANS, judge=judge, pointed=pointed).claims
    assert claim.verdict == "supported"
    return shown[0], claim.evidence_id


def test_a_judge_sees_the_passage_that_the_writer_gave_whatever_names_the_claim_holds() -> None:
    text, cited = judged_by(None)
    assert ("second working day" in text, cited) == (False, "d:1"), (
        "the names stand at the head, the value does not"
    )
    text, cited = judged_by({f"{NOTICE}.": [CLAUSE_PLACE]})
    assert ("second working day" in text, cited) == (True, "d:1")
    assert "Quayside Stores" in text, "what speaks most of the claim is shown, too"


def test_a_judge_sees_the_place_of_each_value_and_little_else() -> None:
    lines = [f"Matter {number} is kept in good order by whoever holds it." for number in range(60)]
    lines[5], lines[50] = "Berth 7 is let for 410 EUR a week.", "The deposit for berth 7 is 95 EUR."
    text = "\n".join(lines)
    shown: list[str] = []

    def judge(claim: str, evidence: str) -> Judgement:
        shown.append(evidence)
        return Judgement("supported", "it says so")

    claim = "Berth 7 costs 410 EUR a week with a deposit of 95 EUR"
    at = text.index(lines[5])
    pointed = {f"{claim}.": [("lease", at, at + len(lines[5]))]}
    verify(f"{claim} [lease].", [Evidence("l:0", "lease", text, 0)], judge=judge, pointed=pointed)
    assert lines[5] in shown[0]
    assert lines[50] in shown[0], "a value stands beside what was pointed at"
    assert "Matter 25 " not in shown[0]
    assert shown[0].startswith("[lease]\n")
    assert "\n…\n" in shown[0]


def test_of_a_long_line_a_judge_sees_what_the_writer_saw_and_what_is_near_the_value() -> None:
    filler = [f"Matter {number} is kept in good order by whoever holds it." for number in range(60)]
    filler[8], filler[40] = "Keys are handed over in the harbour office.", "Berth 7 costs 410 EUR a week."
    text = " ".join(filler)
    shown: list[str] = []

    def judge(claim: str, evidence: str) -> Judgement:
        shown.append(evidence)
        return Judgement("supported", "it says so")

    claim = "For berth 7 one pays 410 EUR a week"
    places = [("lease", text.index(one), text.index(one) + len(one)) for one in (filler[8], filler[40])]
    span = Evidence("l:0", "lease", text, 0)
    verify(f"{claim} [lease].", [span], judge=judge, pointed={f"{claim}.": places})
    said, near = (part.strip("\n") for part in shown[0].split("…")[1:3])
    assert said == filler[8]
    assert near.startswith("Matter 3")
    assert " ".join(filler[38:43]) in near
    assert near.endswith(".")


def test_a_passage_that_was_given_makes_no_value_stand() -> None:
    wrong = "Under the Harbour Supply Deed notices take effect on the 900th working day [deed]."
    without = verify(wrong, SPANS).claims[0].verdict
    given = verify(wrong, SPANS, pointed={wrong.replace(" [deed]", ""): [CLAUSE_PLACE]}).claims[0].verdict
    assert (without, given) == ("unsupported", "unsupported")


def test_a_judge_sees_pieces_that_overlap_as_one_and_where_the_document_goes_on() -> None:
    words = "The carrier insures each crate against loss at sea and the buyer pays the premium of that cover in full."
    spans = [
        Evidence("a", "deed", words[:70], 0, cut=(False, True)),
        Evidence("b", "deed", words[40:90], 40, cut=(True, True)),
    ]
    seen: list[str] = []

    def judge(claim: str, evidence: str) -> None:
        seen.append(evidence)

    verify("Loss at sea is covered by the carrier, at the cost of the buyer [deed].", spans, judge=judge)
    assert seen == [f"{words[:90]}\n…"]


def test_a_documents_name_may_stand_in_a_claim_and_states_nothing() -> None:
    text = "The carrier insures each crate against loss at sea."
    called = ("frames/Zandvoort_Frame-7714.pdf", "Zandvoort_Frame-7714.pdf", "Zandvoort Frame Covenant 7714")
    spans = [Evidence("a", "d41", text, called=called)]
    for name in called:
        said = f"According to {name} the carrier insures each crate against loss at sea [d41]."
        assert verify(said, spans).claims[0].verdict == "supported"
        assert verify(said, [Evidence("a", "d41", text)]).claims[0].verdict != "supported"
    other = "According to Zandvoort_Frame-7715.pdf the carrier insures each crate against loss at sea [d41]."
    assert verify(other, spans).claims[0].verdict != "supported"


@pytest.mark.parametrize(
    "said", ["The offer 900 EUR is open [o].", "The price is 900 EUR [o].", "It costs 900 [o]."]
)
def test_an_amount_in_a_title_backs_no_amount(said: str) -> None:
    called = ("offer 900 EUR.pdf", "offer 900 EUR", "900")
    spans = [
        Evidence("a", "o", "The offer is open for two weeks; its price stands in the annex.", called=called)
    ]
    assert verify(said, spans).claims[0].verdict != "supported"


def test_units_of_time_are_the_same_in_other_languages() -> None:
    """Spanish minutes of an English notice, one sentence over two notices."""
    notices = [
        Evidence("n1", "tern", "`tern` 0.3 was published in May and removed approximately 86 minutes later."),
        Evidence(
            "n2", "dunlin", "`dunlin` 0.1 was published in May and removed approximately 107 minutes later."
        ),
    ]
    both = (
        "`dunlin` se retiró unos 107 minutos después de publicarse, `tern` unos 86 minutos [dunlin] [tern]."
    )
    assert [claim.verdict for claim in verify(both, notices).claims] == ["supported"]
    wrong = verify(both.replace("107", "86").replace("unos 86 minutos [", "unos 107 minutos ["), notices)
    assert wrong.claims[0].verdict != "supported"


def test_the_star_of_a_footnote_is_no_emphasis() -> None:
    rows = "ID Drain current at 25 °C 15 15 (*) A\nID Drain current at 100 °C 9.4 9.4 (*) A\nIDM Pulsed 60 60 (*) A"
    quoted = " ".join(rows.split("\n")[1:])
    claims = verify(f"“{quoted}” [sheet].", [Evidence("s1", "sheet", rows)]).claims
    assert [claim.verdict for claim in claims] == ["supported"]
    assert "(*)" in claims[0].text
