"""Rankings → a pool of (query, passage) pairs → graded spans, by labels or by a judge and its ledger."""
