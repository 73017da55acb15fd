"""Many settings on a part of text and queries, then those that are left on everything."""
