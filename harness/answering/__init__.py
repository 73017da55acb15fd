"""Rankings → answers, and what is measured of them. One job per file."""
