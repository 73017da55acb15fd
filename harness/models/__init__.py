"""Where models come from: a hub id, a local folder, or one embedded in an installed package.

Shared by the rooms that run models. Weights are safetensors only, remote code is never trusted, and a model
that cannot be had is a ModelError: no other model takes its place.
"""

from harness.models.resolve import EMBEDDED, Model, resolve
from harness.models.tokenizer import ModelTokenizer
