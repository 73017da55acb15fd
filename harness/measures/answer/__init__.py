"""Answers to questions, and their quality: the passages read, the answers, and their measures."""
