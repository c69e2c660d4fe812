"""E-mail of every kind with its attachments, and rich text."""
