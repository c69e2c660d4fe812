"""Numbers of a claim: what they are computed from, and where tables and forms have them."""
