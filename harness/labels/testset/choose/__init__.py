"""Which of the proposed questions to keep: likeness and leading words are measured, people decide."""
