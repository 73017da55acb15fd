"""Known collections become corpus folders: documents, queries.csv, labels.csv and a README."""
