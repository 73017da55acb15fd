"""Which of the proposed questions to keep: what is alike and what leads is measured, people decide."""
