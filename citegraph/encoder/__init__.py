"""The local encoder: finds the span that answers a question, checks a claim against its evidence; no model endpoint."""
