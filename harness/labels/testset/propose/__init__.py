"""Questions for a test set: asked of a language model, taken from a list or a log, or written by people."""
