"""The same jobs by two states of the code, and every difference between what they write."""
