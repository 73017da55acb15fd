"""A folder of documents → a benchmark to fill: what is in it, and the files to begin with."""
