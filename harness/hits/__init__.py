"""What other pipelines returned, placed in the documents and scored as settings of our own."""
