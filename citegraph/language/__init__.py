"""The only place that knows a natural language: words, names, numbers, money, units, dates and periods."""
