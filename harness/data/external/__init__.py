"""Questions, passages and answers of other pipelines: ragas files, read and written."""
