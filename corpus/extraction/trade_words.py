"""The words around names on invoices, by what they say of the name: German, English, French, Spanish, Italian, Dutch."""

import re
from itertools import chain

from corpus.extraction.heads import is_name


def _words(text: str) -> str:
    """Return an alternation of the phrases of a table, one a line or separated by "|"; a blank is any white space."""
    phrases = (phrase.strip() for line in text.strip().splitlines() for phrase in line.split("|"))
    return "|".join(phrase.replace(" ", r"[\s_/-]+") for phrase in phrases if phrase)


_TAIL = (
    r"(?:[\s/(_-]*(?:"
    + _words(
        """
    address | party | details? | information | info | data | name | adresse | anschrift | daten | gegevens | nom | to
    leistungsempfänger\\w* | kunde | customer | client | buyer | purchaser | seller | vendor | supplier | prestatore | committente
    """
    )
    + r")\)?)*"
)
"""What may follow in the same label: "Bill to address", "Käufer/Leistungsempfänger", "Sold-To Party"."""

_SELLER = _words(
    """
    verk[aä]ufer\\w* | lieferant\\w* | rechnungs(?:er)?steller\\w* | rechnung von | absender | auftragnehmer\\w* | dienstleister
    leistungserbringer | leistender unternehmer | seller | sold by | vendor | supplier | from | issued by | issuer | invoice from
    billed by | biller | service provider | merchant | vendeur | fournisseur | [eé]metteur | prestataire | vendu par
    emisor | proveedor | vendedor | prestador | vendido por | cedente | fornitore | venditore | emittente | mittente
    verkoper | leverancier | afzender | sprzedawca | fornecedor | emitente
    """
)
_BUYER = _words(
    """
    k[aä]ufer\\w* | kunden? | kundin | rechnungsempf[aä]nger\\w* | rechnungsadresse | rechnungsanschrift | rechnung an | empf[aä]nger\\w*
    leistungsempf[aä]nger\\w* | auftraggeber\\w* | besteller\\w* | (?:invoice|bill(?:ed)?|sold|invoiced|issued) to | buyer | customer
    billing address | billing | client | purchaser | recipient | prepared for | guest | subscriber | attn | attention | to
    acheteur | adresse de factur\\w* | factur[eé]e? [aà] | facturation | destinataire | nom de l['’]abonn[eé] | abonn[eé] | factuuradres
    (?:datos|dati) (?:del|de facturaci[oó]n|de|della) (?:cliente|fatturazione)? | cliente | comprador | destinatario | facturar a | facturado a
    cessionario | committente | acquirente | intestatario | spett\\.?(?:le|mo|abile)? | fatturare a | factuurgegevens | factuur aan
    koper | klant\\w* | afnemer | debiteur | opdrachtgever | nabywca | adquirente
    """
)
_ELSEWHERE = _words(
    """
    adresse de livraison | livr[eé]e? [aà] | lieu (?:desservi|de livraison) | lieferadresse | lieferanschrift | versandadresse
    warenempf[aä]nger\\w* | lieferempf[aä]nger\\w* | ship(?:ped|ping)? (?:to|address|from) | deliver(?:y|ed)? (?:to|address) | consignee
    service address | installation address | l['’]installation | adresse de l['’]installation | afleveradres | bezorgadres | verzendadres
    leveringsadres | direcci[oó]n de (?:env[ií]o|entrega) | indirizzo di (?:consegna|spedizione) | luogo di consegna | destinazione
    abweichende\\w* \\w+ | bank\\w* | zahlungsempf[aä]nger\\w* | payee
    """
)
_PAID = _words(
    """
    remit(?:tance)? (?:payment )?to | payable to | kontoinhaber\\w* | account (?:name|holder) | beneficiary | in favou?r of | titulaire(?: du compte)?
    b[eé]n[eé]ficiaire | titular(?: de la cuenta)? | intestat[oa] a | beneficiario | t\\.?n\\.?v\\.? | begünstigter?
    """
)
_BARE = {"seller": r"de|von|van|da|par", "buyer": r"an|à|a|aan|para|per|pour|für|for"}
"""Prepositions that are labels when a colon follows."""

_LABELS = {
    said: re.compile(rf"\W*(?:{words}){_TAIL}\W*", re.IGNORECASE)
    for said, words in (("elsewhere", _ELSEWHERE), ("seller", _SELLER), ("buyer", _BUYER), ("paid", _PAID))
}
_PREPOSITIONS = {said: re.compile(rf"(?:{words})\s?:", re.IGNORECASE) for said, words in _BARE.items()}
_INLINE = re.compile(
    rf"(?P<label>(?:{_ELSEWHERE}|{_SELLER}|{_BUYER}|{_PAID}){_TAIL}\s?:|(?:de|von|van|da|à|a|aan|para)\s?:"
    r"|(?:"
    + _words(
        "sold by | issued by | invoice from | bill(?:ed)? to | invoiced? to | ship to | factur[eé]e? [aà] | rechnung an | spett\\.le"
    )
    + r"))\s*(?P<name>[^\W\d_].*)",
    re.IGNORECASE,
)
_SAYS = {
    2.5: re.compile(
        rf"\b(?:{_words('payable to | in favou?r of')})\s*:?\s*(?P<name>[^\W\d_][^\n|]{{2,60}}?)(?:(?<=\w\w\w)[.;!]\s|[.;!]?$)",
        re.IGNORECASE,
    ),
    1.0: re.compile(
        rf"(?:\b(?:{_words('thank you for (?:shopping|your purchase|staying|your order) (?:at|with|from)')})"
        r"|(?:©|\(c\)|copyright)\s*(?:\d{4}\s*)?(?:[-–]\s*\d{4}\s*)?)\s*:?\s*(?P<name>[^\W\d_][^\n|]{2,60}?)(?:(?<=\w\w\w)[.;!]\s|[.;!]?$)",
        re.IGNORECASE,
    ),
}
"""Sentences that name the seller, by what they count."""
_CAPITAL = re.compile(
    r"(?P<name>[^\W\d_][^\n|•·:]{1,60}?)[\s,–—-]+(?:soci[eé]t[eé]\b[^\n\d]{0,40}|s\.?a\.?(?:s|r\.?l)?\.?u?\.?|snc|scop\w*|eurl|sarl)\s+"
    r"(?:[aà]\s\w+\s\w+\s)?au\s+capital",
    re.IGNORECASE,
)
"""A French company's line in the foot of the page: name, form, capital; of the seller alone."""


def label_of(text: str) -> str:
    """Return what a label says of the name under or beside it: "seller", "buyer", "paid", "elsewhere"; "" for no label."""
    for said, pattern in (*_PREPOSITIONS.items(), *_LABELS.items()):
        if pattern.fullmatch(text):
            return said
    return ""


def label_end(text: str) -> int:
    """Return where the name begins in a cell that holds a label and a name ("Sold by: Acme"), 0 in another."""
    found = _INLINE.fullmatch(text)
    return found.start("name") if found else 0


def said_name(text: str) -> tuple[int, int, float] | None:
    """Return where a sentence or a company's line names the seller, and what that counts."""
    ways = chain(
        [(4.0, _CAPITAL.match(text))], ((counts, says.search(text)) for counts, says in _SAYS.items())
    )
    return next(
        (((*found.span("name"), counts)) for counts, found in ways if found and is_name(found["name"])), None
    )


REGISTERED = re.compile(
    r"\b(?:ust[\W_]{0,2}id\w*|umsatzsteuer\W?id\w*|vat\W{0,2}(?:id|no|reg\w*|number)|tva\W{0,2}(?:intra\w*|:|[A-Z]{2}\d)|siret|siren|rcs"
    r"|r\.c\.s|hr[ab]\b|handelsreg\w*|amtsgericht|registergericht|gesch[aä]ftsf\w*|vorstand\w*|kvk|btw\W?(?:nr|nummer|id)|nip|regon|krs"
    r"|company\s+(?:reg\w*\s+)?(?:no|number)|registered\s+(?:office|in)|si[eè]ge\s+social|au\s+capital|gstin|gst\W{0,2}(?:no|id|reg\w*)"
    r"|steuer\W?n(?:umme)?r|st\W{0,2}nr|abn|ein|cin|pan|c\.?i\.?f|n\.?i\.?f|p\.?\s?iva|partita\s+iva|registro\s+mercantil|mwst\W{0,2}nr"
    r"|uid\W{0,2}nr|rpr|bce|kbo|inhaber\w*)\b",
    re.IGNORECASE,
)
SALUTATION = re.compile(
    r"\W*(?:herrn?|frau|eheleute|familie|firma|messrs|madame|monsieur|an|to|z\.?\s?hd\.?|c/o|attn|attention|t\.?a\.?v|[aà]"
    r"|(?:mr|mrs|ms|m|mme)\.?\s(?:and|&|et)\s(?:mr|mrs|ms|mme)|sig\w*|spett\.?(?:le|mo)?|srs?|sra|de\sheer|mevrouw|d\.ª?|mr|mrs|ms|m|mme)(?:\.|\b)\s*:?\s*",
    re.IGNORECASE,
)
NUMBERED = re.compile(
    r"\W*(?:gln|(?:kunden|lief\w*|customer)\W{0,2}(?:nr|no|nummer|number|id)|nummer|number|id|ust|vat|tva|iva|p\.?\s?iva|btw|tel|fax|phone"
    r"|private|personal|confidential|persönlich|vertraulich|einschreiben|confidentiel|e-?mail|www|https?|n[°º]|nr|c\.?i\.?f|n\.?i\.?f|abn|r[eé]f)(?:\b|[.\s°º])|[\d\W]+$|[^\n]*:$",
    re.IGNORECASE,
)
ADDRESS_ROW = re.compile(
    r"\W*(?:name|firma|company|anschrift|address?e?|nom|naam|adres|nazwa|nombre|nome|direcci[oó]n|indirizzo)\b",
    re.IGNORECASE,
)
AFTER_FORM = re.compile(
    r"\s[-–|(·•]|,|\s+(?:au\s+capital|mit\s+sitz|hr[ab]\b|with\s+registered)", re.IGNORECASE
)
STREET = re.compile(
    r"[^\n]*[^\W\d][. ]*\s?\d+\s?[a-z]?(?:\s?[-/]\s?\d+\s?[a-z]?)?\W*|\d+\s?\w?,?\s[^\n]*", re.IGNORECASE
)
POSTCODE = re.compile(
    r"(?:[A-Z]{1,2}[- ]{1,3})?(?:\d{4,5}|\d{2}-\d{3}|\d{4}\s?[A-Z]{2})\s?[^\W\d][^\n:]{1,40}"
    r"|[^\W\d][\w .'-]{2,40},?\s+(?:[A-Z]{2},?\s+)?\d{5,6}(?:-\d{4})?(?:,\s?[^\W\d][\w ]{1,20})?"
    r"|[^\W\d][\w .'-]{2,40},?\s+(?:NSW|VIC|QLD|WA|SA|TAS|ACT|NT)\s+\d{4}"
    r"|(?:[^\n\d]{2,30})?[A-Z]{1,2}\d[A-Z\d]?\s\d[A-Z]{2}"
)
"""A line with a postcode and a town, the last or the last but one of an address."""
SENDER = re.compile(
    r"(?P<name>[^|•·●∙■,;–]{3,60}?)\s*(?:[|•·●∙■,;–]|\s[-—]\s)\s*(?=[^|\n]*\d)[^\n]{3,60}?(?:[|•·●∙■,;–]|\s[-—]\s|\s{2,})\s*"
    r"(?:[A-Z]{1,2}[- ])?\d{4,6}\b[ ]?[^\W\d][^\n]*"
)
"""The sender's line above the window of DIN 5008 and the like: name, street, postcode and town in one line."""
