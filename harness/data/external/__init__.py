"""Questions, passages and answers of other pipelines: ragas files and production traces, read and written."""
