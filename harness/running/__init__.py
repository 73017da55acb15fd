"""What one run does once and keeps in the cache: corpus, chunks, indexes, vectors, rankings of settings."""
