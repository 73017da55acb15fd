"""The parts of a run that are computed once and cached: corpus, chunks, indexes, vectors, rankings."""
