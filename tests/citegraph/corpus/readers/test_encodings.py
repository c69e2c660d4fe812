"""Bytes of any encoding become the text that was written, and bytes that are no text are refused."""

import random

import pytest

from citegraph.corpus.readers.encodings import NO_TEXT, decoded
from citegraph.errors import BadInput

GERMAN = "Rechnung Nr. 4711 über 1.234,50 € für Müller & Söhne\nZahlbar bis 31. März 2025. Grüße aus Köln.\n"
PLAIN_GERMAN = GERMAN.replace("€", "EUR")
FRENCH = "Facture n° 12 à payer : 99,00 € — réf. Élève, œuvre, garçon.\n"
RUSSIAN = "Счёт на оплату 17 от 3 марта 2025 года. Поставщик: Ромашка. Итого к оплате: 1 200 рублей.\n" * 3
JAPANESE = "請求書番号 42。株式会社サンプル。支払期限は三月三十一日です。合計金額は千円です。\n" * 4
CHINESE = "发票号码四十二。上海示例有限公司。付款期限为三月三十一日。合计金额一千元整。\n" * 4
POLISH = "Faktura nr 12 za usługi księgowe. Należność płatna do końca miesiąca, śledź zamówienie.\n"
CZECH = "Příliš žluťoučký kůň úpěl ďábelské ódy. Faktura číslo 5.\n"
SPANISH = "¿Cuánto cuesta? La factura número 5 asciende a 100. Año señor.\n"
DANISH = "Fakturaen gælder smørrebrød på Ærø, betales før månedens udløb.\n"
TURKISH = "Fatura tutarı: 100 lira. Ödeme günü şubat ayı, müşteri burada yaşıyor.\n"


@pytest.mark.parametrize(
    ("text", "encodings"),
    [
        (GERMAN, "utf-8 utf-8-sig utf-16 utf-16-le utf-16-be utf-32 cp1252 iso8859_15 mac_roman"),
        (PLAIN_GERMAN, "latin-1 cp437 cp850"),
        (FRENCH, "utf-8 cp1252 mac_roman"),
        (SPANISH, "cp1252 mac_roman cp850"),
        (DANISH, "cp1252 cp850"),
        (POLISH, "cp1250 iso8859_2 cp852"),
        (CZECH, "cp1250 cp852"),
        (TURKISH, "cp1254"),
        (RUSSIAN, "utf-16-le utf-16-be koi8-r cp1251"),
        (JAPANESE, "utf-16-le utf-16-be shift_jis euc_jp"),
        (CHINESE, "utf-16-le gb18030"),
        ("Total: 5 €", "cp1252 utf-16-le"),
        ("Smith – Jones, café", "cp1252"),
        ("Plain words, 12 of them.\n", "ascii utf-16-be"),
    ],
)
def test_text_is_read_as_it_was_written(text: str, encodings: str) -> None:
    found = {name: decoded(text.encode(name)) for name in encodings.split()}
    assert found == dict.fromkeys(encodings.split(), text)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (GERMAN.encode() + "Grüße\n".encode("cp1252") + GERMAN.encode(), f"{GERMAN}Grüße\n{GERMAN}"),
        (GERMAN.encode() + b"\xff\x81\n", f"{GERMAN}ÿ\ufffd\n"),
        (b"one\x00two " + GERMAN.encode(), f"one\x00two {GERMAN}"),
        (GERMAN.encode() + bytes(3000), GERMAN),
        (b"", ""),
        (b"\xff\xfeA", "\ufffd"),
    ],
)
def test_a_few_strange_bytes_cost_themselves(data: bytes, text: str) -> None:
    assert decoded(data) == text


@pytest.mark.parametrize(
    "data",
    [
        random.Random(7).randbytes(3000),
        b"MZ\x90\x00\x03" + random.Random(8).randbytes(3000),
        b"\x7fELF" + bytes(range(256)) * 20,
        b"\x01\x02\x03 words",
        b"words \x00\x01\x02\x03\x04\x05",
    ],
)
def test_what_is_no_text_is_refused(data: bytes) -> None:
    with pytest.raises(BadInput, match=f"^{NO_TEXT}$"):
        decoded(data)
