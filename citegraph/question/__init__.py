"""What a question says: names, periods, amounts, groups, order and intent, read from its words."""
