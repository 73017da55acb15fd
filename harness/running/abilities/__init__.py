"""How a model handles its passages: noise, missing evidence, scattered evidence, false evidence.

The four abilities of RGB (Chen et al., Benchmarking large language models in retrieval-augmented generation,
AAAI 2024), from its files or from the user's own corpus and labels.
"""
