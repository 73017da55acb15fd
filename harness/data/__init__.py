"""Files to documents, queries, labels and hits, and back: parsers, tables, TREC, other tools' exports."""
