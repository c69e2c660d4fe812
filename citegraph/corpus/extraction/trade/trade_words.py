"""The words around names on invoices, by what they say of the name, in the languages of Europe and its trade."""

import re
from itertools import chain

from citegraph.corpus.extraction.heads import is_name


def _words(text: str) -> str:
    """Return an alternation of the phrases of a table, one a line or separated by " | "; a blank is any white space."""
    phrases = (phrase.strip() for line in text.strip().splitlines() for phrase in line.split(" | "))
    return "|".join(phrase.replace(" ", r"[\s_/-]+") for phrase in phrases if phrase)


_TAIL = (
    r"(?:[\s/(_-]*(?:"
    + _words(
        """
    address | party | details? | information | info | data | name | adresse | anschrift | daten | gegevens | nom | to | of services
    leistungsempfänger\\w* | kunde | customer | client | buyer | purchaser | seller | vendor | supplier | prestatore | committente
    bill to | sold to | ship to | de servi[cç]os? | de servicios?
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
    verkoper | leverancier | afzender | sprzedawca | dostawca | wystawca | fornecedor | emitente | prestador | dodavatel | dodávateľ | prodávající
    predávajúci | s[aä]lj(?:are|aren) | leverant[oö]r | selger | s[æa]lger | leverand[oø]r | udsteder | utsteder | avsender | afsender | myyj[aä]
    toimittaja | laskuttaja | furnizor | v[aâ]nz[aă]tor | elad[oó] | sz[aá]ll[ií]t[oó] | prodavatelj | izdajatelj | prodajalec | sat[ıi]c[ıi]
    verkauft von | verkauf und versand durch | ausgestellt (?:von|durch) | rechnungsaussteller\\w* | paid to | payment to | exporter | shipper exporter
    pay to | issued (?:on behalf of [^\\n]{2,60} )?by | supplied by | provided by
    """
)
_BUYER = _words(
    """
    k[aä]ufer\\w* | kunden? | kundin | rechnungsempf[aä]nger\\w* | rechnungsadresse | rechnungsanschrift | rechnung an | empf[aä]nger\\w*
    leistungsempf[aä]nger\\w* | auftraggeber\\w* | besteller\\w* | (?:invoice|bill(?:ed)?|sold|invoiced|issued) to | buyer | customer
    billing address | billing | client | purchaser | recipient | prepared for | subscriber | attn | attention | to
    acheteur | adresse de factur\\w* | factur[eé]e? [aà] | facturation | destinataire | nom de l['’]abonn[eé] | abonn[eé] | factuuradres
    (?:datos|dati) (?:del|de facturaci[oó]n|de|della) (?:cliente|fatturazione)? | cliente | comprador | destinatario | facturar a | facturado a
    cessionario | committente | acquirente | intestatario | spett\\.?(?:le|mo|abile)? | fatturare a | factuurgegevens | factuur aan
    koper | klant\\w* | afnemer | debiteur | opdrachtgever | nabywca | odbiorca | zamawiaj[aą]cy | adquirente | tomador | receptor | utente
    odb[eě]ratel | odberate[lľ] | kupuj[ií]c[ií]\\w* | k[oö]pare | kunde? | kj[oø]per | k[oø]ber | mottaker | modtager | mottagare
    faktureringsadress\\w* | fakturaadress\\w* | asiakas | ostaja | laskutusosoite | cump[aă]r[aă]tor | beneficiar | client[eul]* | vev[oő]
    kupec | naro[cč]nik | al[ıi]c[ıi] | exmos? srs? | ex\\.?mo\\(?s?\\)?\\.? sr\\.?\\(?s?\\)?\\.? | vendu [aà] | destinatari[oa] | zahlbar durch | payable par
    pagabile da | payable by| mieter\\w* | account holder name | invoiced to | tax invoice to | m/s | invoice for | factuur voor | rechnung f[uü]r | facture pour | say[ıi]n
    """
)
_ELSEWHERE = _words(
    """
    adresse de livraison | livr[eé]e? [aà] | lieu (?:desservi|de livraison) | lieferadresse | lieferanschrift | versandadresse
    warenempf[aä]nger\\w* | lieferempf[aä]nger\\w* | ship(?:ped|ping)? (?:to|address|from) | deliver(?:y|ed)? (?:to|address) | consignee
    service address | installation address | l['’]installation | adresse de l['’]installation | afleveradres | bezorgadres | verzendadres
    exp[eé]di[eé]e? [aà] | leveransadress | leveringsadresse | toimitusosoite | miejsce dostawy | dodac[ií] adresa | konečn[yý] p[rř][ií]jemce
    leveringsadres | direcci[oó]n de (?:env[ií]o|entrega) | indirizzo di (?:consegna|spedizione) | luogo di consegna | destinazione
    abweichende\\w* \\w*(?:adresse|anschrift|empf[aä]nger) | bank\\w* | zahlungsempf[aä]nger\\w* | payee
    """
)
_GUEST = _words(
    "guest(?: name)? | gast | hu[eé]sped | ospite | passenger | fahrgast | reisender | voyageur | pasajero | passeggero | patient | patiënt"
)
_PAID = _words(
    """
    remit(?:tance)? (?:payment )?to | payable to | kontoinhaber\\w* | account (?:name|holder) | beneficiary | in favou?r of | titulaire(?: du compte)?
    make (?:checks?|cheques?) payable to | (?:checks?|cheques?) payable to | please remit (?:payment )?to | (?:konto )?zahlbar an
    (?:compte )?payable [aà] | (?:conto )?pagabile a | (?:account )?payable to | ten name van | posiadacz rachunku | empf[aä]nger der zahlung
    b[eé]n[eé]ficiaire | titular(?: de la cuenta)? | intestat[oa] a | beneficiario | t\\.?n\\.?v\\.? | begünstigter?
    """
)
_BARE = {"seller": r"de|von|van|da|par", "buyer": r"an|à|a|aan|para|per|pour|für|for"}
"""Prepositions that are labels when a colon follows."""

_NAME_ROW = (
    r"(?:nome\W{1,3})?raz[aã]o\s+social|raz[oó]n\s+social|ragione\s+sociale|denominazione|raison\s+sociale|company(?:\s+name)?|firma|firmenname"
    r"|name|nom|nome|naam|nazwa|nombre|denumire|n[aá]zev|n[eé]v|navn|namn|nimi"
)
"""What stands before the name in the rows of a form."""

_ABOUT = (
    r"(?:(?:informationen|angaben|informations?|info|details?|daten|data|dados|datos|dati|dane|gegevens|donn[eé]es|coordonn[eé]es|your|our|ihre?|unsere?|the)"
    r"\s+(?:(?:zum|zur|des|der|of|about|on|the|do|del|della|van|de|du|over|sur)\s+(?:the\s|l['’])?)?)?"
)
"""What may stand before the word for a party in its label: "Informationen zum Verkäufer"."""
_LABEL = re.compile(
    "|".join(
        [
            *(rf"(?P<{said}_>(?:{words})\s?:)" for said, words in _BARE.items()),
            rf"(?P<elsewhere>\W*{_ABOUT}(?:{_ELSEWHERE}){_TAIL}\W*)",
            rf"(?P<seller>\W*{_ABOUT}(?:{_SELLER}){_TAIL}\W*)",
            rf"(?P<buyer>\W*{_ABOUT}(?:{_BUYER}){_TAIL}\W*)",
            rf"(?P<guest>\W*{_ABOUT}(?:{_GUEST}){_TAIL}\W*)",
            rf"(?P<paid>\W*{_ABOUT}(?:{_PAID}){_TAIL}\W*)",
        ]
    ),
    re.IGNORECASE,
)
_INLINE = re.compile(
    rf"(?P<label>(?:{_ELSEWHERE}|{_SELLER}|{_BUYER}|{_GUEST}|{_PAID}){_TAIL}\s?:|(?:{_NAME_ROW})\s?:|(?:de|von|van|da|à|a|aan|para)\s?:"
    r"|(?:"
    + _words(
        "sold by | issued by | invoice from | bill(?:ed)? to | invoiced? to | ship to | factur[eé]e? [aà] | rechnung an | spett\\.le"
    )
    + r"))\s*(?P<name>[^\W\d_].*)",
    re.IGNORECASE,
)
THANKS = """
    thank you for (?:shopping|your purchase|your business|staying|your order|booking|dining|travell?ing|flying) (?:at|with|from)
    thank you for (?:choosing|visiting) | vielen dank f[uü]r (?:ihren einkauf|ihre bestellung|ihren besuch|ihren aufenthalt) (?:bei|im|in)
    merci (?:de|pour) votre (?:visite|commande|achat|confiance) chez | bedankt voor (?:uw|je) (?:bestelling|aankoop|bezoek) bij
    gracias por su (?:compra|visita) en | grazie per (?:aver scelto|il tuo acquisto su|aver acquistato da)
    """
HOLDER = "titulaire du compte | kontoinhaber | account (?:name|holder) | intestat[oa] a | rekeninghouder | titular de la cuenta"
_SAYS = {
    2.5: re.compile(
        rf"\b(?:{_words('payable to | in favou?r of')}|(?:{_words(HOLDER)})\s?:)\s*:?\s*(?P<name>[^\W\d_][^\n|]{{2,60}}?)(?:(?<=\w\w\w)[.;!]\s|[.;!]?$)",
        re.IGNORECASE,
    ),
    1.0: re.compile(
        rf"(?:\b(?:{_words(THANKS)})"
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
_HINT = re.compile(
    r"payable|favou?r|titula|inhaber|account|intestat|houder|thank|vielen\s|merci|©|\(c\)|copyright|capital|signat|for\s",
    re.IGNORECASE,
)

_ROW = re.compile(rf"\W*(?:{_NAME_ROW})\s?:", re.IGNORECASE)


def is_name_row(text: str) -> bool:
    """Return whether a cell is the label of a form's row with a name ("Name:", "Ragione sociale:")."""
    return bool(_ROW.fullmatch(text))


def label_of(text: str) -> str:
    """Return what a label says of the name under or beside it: "seller", "buyer", "guest", "paid", "elsewhere"; "" for no label."""
    found = _LABEL.fullmatch(text)
    return str(found.lastgroup).rstrip("_") if found else ""


def label_end(text: str) -> int:
    """Return where the name begins in a cell that holds a label and a name ("Sold by: Acme"), 0 in another."""
    found = _INLINE.fullmatch(text)
    return found.start("name") if found else 0


def said_name(text: str) -> tuple[int, int, float] | None:
    """Return where a sentence or a company's line names the seller, and what that counts."""
    if not _HINT.search(text):
        return None
    ways = chain(
        [(4.0, _CAPITAL.match(text))], ((counts, says.search(text)) for counts, says in _SAYS.items())
    )
    return next(
        (((*found.span("name"), counts)) for counts, found in ways if found and is_name(found["name"])), None
    )
