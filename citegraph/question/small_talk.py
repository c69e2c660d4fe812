"""Greetings and thanks: what needs no look into any document."""

GREETED = "Hello. Ask me about your documents: a fact, a list, a sum, a comparison or a summary."
