"""Texts → vectors, with the bi-encoder named in the configuration."""

from harness.embed.sentence_encoder import EmbedConfig, SentenceEncoder

__all__ = ["EmbedConfig", "SentenceEncoder"]
