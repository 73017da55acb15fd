"""Text → the terms that lexical retrieval matches, by analysers with a name."""
