"""Measurements whose figures the docs show. A package, as some libraries install one of the same name."""
