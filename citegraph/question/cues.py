"""Words by which people signal what they want, in English, German and French; read by the deterministic twins."""

import re

from citegraph.language.word_tables import alternation

ARTICLE = rf"(?:(?:{alternation('asking', 'articles')})\s+)?"
"""Between a word and the noun that it governs: "by the vendor", "nach dem Lieferanten"."""

GREETED = "Hello. Ask me about your documents: a fact, a list, a sum, a comparison or a summary."

GREETING = re.compile(rf"^(?:{alternation('asking', 'greeting')})+", re.IGNORECASE)
THANKS = re.compile(rf"\b(?:{alternation('asking', 'thanks')})\b", re.IGNORECASE)
FILLER = re.compile(rf"\b(?:{alternation('asking', 'filler')})\b", re.IGNORECASE)
CAPABILITY = re.compile(alternation("asking", "capability"), re.IGNORECASE)

SUMMARIZE = re.compile(alternation("asking", "summarize"), re.IGNORECASE)
COMPARE = re.compile(alternation("asking", "compare"), re.IGNORECASE)
CHOICE = re.compile(alternation("asking", "no_choice_of_bounds"), re.IGNORECASE)
"""Joins two sides of which one is asked for; "60 V or more" has one side."""
COMPARATIVE = re.compile(rf"\b(?:{alternation('asking', 'comparative')})\b", re.IGNORECASE)
ENDMOST = re.compile(rf"\s+(?:{alternation('asking', 'endmost')})\b", re.IGNORECASE)
"""After a date's word: "runs out last", "expires first"."""
LIST = re.compile(alternation("asking", "list"), re.IGNORECASE)
WHOLE = re.compile(alternation("asking", "whole"), re.IGNORECASE)
"""Everything is wanted, though no noun says what; "the list price" and "the packing list" are one thing."""
EXISTENCE = re.compile(rf"\b(?:{alternation('asking', 'existence')})\b", re.IGNORECASE)
WHICH = re.compile(rf"\b(?:{alternation('asking', 'which')})\b", re.IGNORECASE)
NEGATION = re.compile(rf"\b(?:{alternation('asking', 'negation')})\b", re.IGNORECASE)
CONTAINS = re.compile(rf"\b(?:{alternation('asking', 'contains')})\b", re.IGNORECASE)
"""Before a condition that the text of a document must hold."""
BRACKETED = re.compile(r"(?<=\w)\s+\([^()]*\)")
"""What stands in brackets behind a word and only tells more of it."""
FORBIDDEN = re.compile(rf"\b(?:{alternation('asking', 'forbidding')})-(?=\w)", re.IGNORECASE)
"""Before what a clause forbids: "a no-shop clause" denies nothing."""
