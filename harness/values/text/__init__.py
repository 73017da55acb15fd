"""Text as offsets: spans, sentences, tokens, passages."""
