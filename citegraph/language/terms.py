"""Words of a question against words of a text: folding, stems, rarity and coverage."""

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    pass

WORD = re.compile(r"[^\W_]+", re.UNICODE)
LANGUAGES = {"en": "english", "de": "german", "fr": "french", "es": "spanish", "it": "italian", "nl": "dutch"}


@lru_cache(maxsize=65536)
def bare(text: str) -> str:
    """Return `text` case-folded and without accents, for comparing, never for showing."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char))


STOP_WORDS = frozenset(
    bare(word)
    for word in """a about above across after again against ago all almost along already also although always am among an and another any anybody anyone
    anything are around as at available away back be became because been before behind being below between both but by came can cannot come
    could did do does doing done down during each either else enough even ever every everybody everyone everything find for from full further
    get gets give given go going gone got had has have having he held her here hers him his how however i if in into is it its itself just
    keep kept know let lets like list long look made make makes many may me might mine more most much must my name near need needed needs
    never next no none nor not nothing now of off often on once one only onto or other others our ours out over own per please pull put quite
    rather really said same saw say see seem seen shall she should show since so some somebody someone something soon still such take tell
    than that the their theirs them then there these they thing this those though through till to together too toward under until up upon us
    use used uses using very via want wants was way we well went were what whatever when where whether which while who whom whose why will
    with within without would yes yet you your yours pls ok okay actually exactly currently s t re ll ve d m
    der die das den dem des ein eine einen einem einer eines und oder aber auch auf aus bei bis durch für gegen hat haben hatte ich ihm ihn
    ihr im ins ist sind kann können man mit nach nicht noch nur ob ohne sein seine sich sie über um uns unter vom von vor war waren was
    weiter welche welchen welcher welches welchem wenn wer werden wie wieder wir wird wo zu zum zur es gibt dass dieser diese dieses bitte laut
    le la les un une du de et ou mais dans par pour sur avec sans est sont aux au ce cette ces qui que quoi quel quelle quels quelles il elle
    nous vous ils elles se sa son ses leur leurs ne pas plus en""".split()
)


def words(text: str) -> list[str]:
    """Return the bare words of `text` in order; punctuation and underscores separate."""
    return WORD.findall(bare(text))


def content_words(text: str) -> list[str]:
    """Return the bare words of `text` that are not stop words, in order, without repeats."""
    return list(dict.fromkeys(word for word in words(text) if word not in STOP_WORDS))


@lru_cache(maxsize=8)
def _stemmer(language: str) -> Any:
    import Stemmer

    return Stemmer.Stemmer(LANGUAGES.get(language, "english"))


@lru_cache(maxsize=65536)
def stem(word: str, language: str = "en") -> str:
    """Return the Snowball stem of a bare word; numbers and identifiers are returned as they are."""
    return word if any(char.isdigit() for char in word) else str(_stemmer(language).stemWord(word))


def stems(text: str, language: str = "en") -> set[str]:
    """Return the stems of the words of `text`."""
    return {stem(word, language) for word in words(text)}


def fold(text: str) -> str:
    """Return the text as every backend compares it: NFKC, case-folded, runs of white space as one blank."""
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).split())
