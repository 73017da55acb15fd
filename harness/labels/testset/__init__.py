"""A folder of documents → a labelled test set, step by step; people may edit every file in between."""
