"""Questions and grades by people or models: test sets, the labelling page, the order of labelling."""
