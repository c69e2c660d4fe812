"""The local encoder: finds the span that answers a question; no model endpoint."""
