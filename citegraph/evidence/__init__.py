"""Which documents and passages are meant, whether they are enough, what to search next, what to ask back."""
