"""The steps of a setting, a variant a file: chunk, rewrite, filter, retrieve, fuse, rerank, read, answer."""
