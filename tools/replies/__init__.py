"""A corpus of replies of models, and how many of them are read as what they are not."""
