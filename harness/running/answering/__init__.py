"""Rankings → answers and their measures. One job per file."""
