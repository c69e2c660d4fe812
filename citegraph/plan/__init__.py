"""From what a question says to typed filters, first searches and computations per bucket; edits of a plan."""
