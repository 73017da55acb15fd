"""Ask by batches: a file of requests goes up, a file of answers comes back within a day, at a lower price."""
