"""Attacks on the harness as a user would meet them: damaged files, kills, bad input, two runs at once."""
