"""Labels are made: passages that may answer a question, sheets to grade, grades back into the labels."""
