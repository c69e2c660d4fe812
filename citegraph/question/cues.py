"""Words by which people signal what they want, in English, German and French; read by the deterministic twins."""

import re

GREETED = "Hello. Ask me about your documents: a fact, a list, a sum, a comparison or a summary."

GREETING = re.compile(
    r"""^(?:\s*(?:hi|hey|hello|dear\s+\w+|good\s+(?:morning|afternoon|evening|day)|morning|hallo|guten\s+(?:tag|morgen|abend)
    |moin|servus|bonjour|bonsoir|salut|hope\s+you(?:'|’)?(?:re|\s+are)\s+(?:well|fine|doing\s+well)|how\s+are\s+you)
    (?:\s+(?:there|all|team|everyone|zusammen))?\b\s*(?:[:;]-?[)D(]|[,.!?–-])*\s*)+""",
    re.IGNORECASE | re.VERBOSE,
)
THANKS = re.compile(
    r"""\b(?:thanks?(?:\s+(?:you|a\s+lot|so\s+much))?|thx|cheers|bye|goodbye|see\s+you|danke(?:\s+(?:dir|ihnen|schön|sehr))?|vielen\s+dank
    |tschüss|auf\s+wiedersehen|merci(?:\s+beaucoup)?|au\s+revoir|that(?:'|’)?s\s+(?:all|it)|das\s+war(?:'|’)?s)\b""",
    re.IGNORECASE | re.VERBOSE,
)
FILLER = re.compile(
    r"""\b(?:please|pls|plz|kindly|bitte|s(?:'|’)il\s+vous\s+pla[iî]t|thanks\s+in\s+advance|many\s+thanks|danke\s+im\s+voraus
    |(?:could|can|would|will)\s+you\s+(?:please\s+)?(?=\w)|i\s+(?:would|'d)\s+like\s+(?:you\s+)?to\s+(?:know|see)
    |i\s+was\s+wondering(?:\s+(?:if|whether))?|just\s+wondering|would\s+you(?=\s*[?.!]*$)|for\s+me(?=\s*[?.!]*$))\b""",
    re.IGNORECASE | re.VERBOSE,
)
CAPABILITY = re.compile(
    r"""\b(?:what|which|how)\b.{0,40}\b(?:can|could|do)\s+you\b.{0,20}\b(?:do|answer|help|know|offer|search|work)\b
    |^\s*(?:help|hilfe|aide)\s*[?!.]*$|\bwho\s+are\s+you\b|\bwhat\s+are\s+you\b|\bwas\s+kannst\s+du\b|\bwie\s+funktionierst\s+du\b
    |\bque\s+(?:peux|sais)[- ]tu\b|\bhow\s+(?:do|can)\s+i\s+use\s+(?:you|this|citegraph)\b""",
    re.IGNORECASE | re.VERBOSE,
)

SUMMARIZE = re.compile(
    r"\b(?:summar\w+|gist|overview|tl;?\s?dr|in\s+a\s+nutshell|key\s+points|main\s+points|fasse?\b.*\bzusammen|zusammenfass\w*"
    r"|überblick|résum\w+|resume[rz]?|synthèse)\b|tl;dr",
    re.IGNORECASE,
)
COMPARE = re.compile(
    r"\b(?:compare[ds]?|comparing|comparison\s+(?:of|between|to|with)|vs\.?|versus|side\s+by\s+side|differ(?:s|ence|ent)?|how\s+much\b.*\bthan|um\s+wie\s?viel\b.*\bals"
    r"|vergleich\w*|unterschied\w*|gegenüber|différence|comparez?)\b"
    r"|\b(?:and|und|et|or|oder|ou)\b.*\b(?:same|identical|gleiche[nrs]?|même)\b|\b(?:same|identical)\b.*\b(?:as|or)\b",
    re.IGNORECASE,
)
CHOICE = re.compile(
    r"\b(?:or|oder|ou)\b(?!\s+(?:more|less|fewer|higher|lower|greater|larger|bigger|smaller|longer|shorter|above|below|over|under"
    r"|later|earlier|newer|older|better|mehr|weniger|höher|niedriger|größer|kleiner|länger|kürzer|früher|später|älter|neuer|darüber|darunter"
    r"|plus|moins)\b)",
    re.IGNORECASE,
)
"""Joins two sides of which one is asked for; "60 V or more" has one side."""
COMPARATIVE = re.compile(
    r"\b(?:first|earlier|later|longer|shorter|more|less|fewer|higher|lower|bigger|larger|greater|smaller|cheaper|older|newer|sooner|faster|slower"
    r"|heavier|lighter|better|longest|shortest|highest|lowest|höher\w*|niedriger\w*|größer\w*|kleiner\w*|länger\w*|kürzer\w*|früher\w*|später\w*"
    r"|älter\w*|neuer\w*|mehr|weniger|zuerst|plus|moins|premier)\b",
    re.IGNORECASE,
)
ENDMOST = re.compile(
    r"\s+(?:(?P<late>last|latest|zuletzt|en\s+dernier)|first|earliest|soonest|next|zuerst|en\s+premier)\b",
    re.IGNORECASE,
)
"""After a date's word: "runs out last", "expires first"."""
LIST = re.compile(
    r"^\s*(?:list|show|find|give\s+me|get|pull|print|name|enumerate|display|export|fetch|look\s+up\s+all|everything|all|every|each"
    r"|liste|zeige?|nenne|finde|gib|alle|sämtliche|trouve|montre|donne|tou(?:s|tes))\b"
    r"|\b(?:list|all|every|everything|each|complete\s+list|full\s+list|every\s+single|one\s+line\s+per|name\s+them|which\s+ones"
    r"|alle|sämtliche|liste|tous|toutes)\b",
    re.IGNORECASE,
)
WHOLE = re.compile(
    r"^\s*(?:everything|anything|all|every|each|alles?|sämtliche|tou(?:s|tes|t)|todos?|todas?)\b"
    r"|\b(?:every|everything|complete\s+list|full\s+list|every\s+single|one\s+line\s+per|sämtliche)\b",
    re.IGNORECASE,
)
"""Everything is wanted, though no noun says what; "the list price" and "the packing list" are one thing."""
EXISTENCE = re.compile(
    r"\b(?:are\s+there|is\s+there|do\s+we\s+(?:have|hold|own)|have\s+we\s+got|any|gibt\s+es|haben\s+wir|existe(?:nt)?|y\s+a-t-il|avons-nous)\b",
    re.IGNORECASE,
)
WHICH = re.compile(
    r"\b(?:which|what|welche[mnrs]?|in\s+welchen|(?:les)?quel(?:le)?s?|cu[aá]les|qué|quali|welke)\b",
    re.IGNORECASE,
)
NEGATION = re.compile(
    r"\b(?:not|no|non|without|except(?:\s+for)?|excluding|exclude[sd]?|other\s+than|leave\s+out|leaving\s+out|but\s+not|aren(?:'|’)t|isn(?:'|’)t|never"
    r"|nicht|kein\w*|ohne|außer|sauf|sans|hormis)\b",
    re.IGNORECASE,
)
CONTAINS = re.compile(
    r"\b(?:contain(?:s|ing|ed)?|mention(?:s|ing|ed)?|includ(?:e|es|ing)|provid(?:e|es|ing)\s+for|stipulat(?:e|es|ing)"
    r"|with\s+an?(?=[^,.;?!]{0,60}\b(?:clause|provision|section|paragraph|condition)s?\b)"
    r"|(?:talk|speak)(?:s|ing)?\s+about|enthalten|enthält|erwähn\w*|mit\s+eine[rnm]?(?=[^,.;?!]{0,60}(?:klausel|bestimmung|abschnitt))|contenant|contiennent|mentionn\w+|avec\s+une\s+clause)\b",
    re.IGNORECASE,
)
"""Before a condition that the text of a document must hold."""
