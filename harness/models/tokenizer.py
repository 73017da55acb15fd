"""A model's fast tokenizer as the chunkers need it: character offsets, nothing decoded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.models.model_files import ModelFiles, damaged, read_json
from harness.values import ModelError, text_batches

_OFFSET = frozenset({"roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet", "data2vec-text"})
"""Types of models that count positions from behind the padding token."""


class ModelTokenizer:
    """The tokenizer of ``model`` with truncation and padding off.

    ``window`` is the longest input in tokens the model reads, special tokens included (0: not stated);
    ``special`` the number of special tokens it adds to a single text.
    """

    def __init__(self, model: ModelFiles) -> None:
        from tokenizers import Tokenizer

        path = model.folder / "tokenizer.json"
        if not path.is_file():
            raise ModelError(
                f"{model.name}: no tokenizer.json in {model.folder}; only fast tokenizers are read. Make "
                "one: transformers.AutoTokenizer.from_pretrained(folder).save_pretrained(folder)"
            )
        self.name = model.name
        self.fingerprint = model.fingerprint
        self.window = _window(model)
        try:
            self._tokenizer: Any = Tokenizer.from_file(str(path))
        except Exception as error:
            # the library raises Exception itself
            raise damaged(model.name, path, str(error).partition("\n")[0][:120]) from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.special: int = self._tokenizer.num_special_tokens_to_add(False)

    def offsets(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """The half-open character range of every content token of every text, in one batched call."""
        encodings = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [encoding.offsets for encoding in encodings]

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """The number of tokens the model would see of every text, special tokens included."""
        found: list[int] = []
        for batch in text_batches(texts):
            encodings = self._tokenizer.encode_batch_fast(batch, add_special_tokens=False)
            found += [len(encoding) + self.special for encoding in encodings]
        return found


def _window(model: ModelFiles) -> int:
    """The longest input that the model states for sentence-transformers, else for tokenizer and positions."""
    config = read_json(model.folder, "config.json")
    own = _sizes(read_json(model.folder, "sentence_bert_config.json").get("max_seq_length"))
    limit = _sizes(read_json(model.folder, "tokenizer_config.json").get("model_max_length"))
    positions = _sizes(config.get("max_position_embeddings"))
    if config.get("model_type") in _OFFSET:
        # the positions up to that of the padding token are never used
        pad = config.get("pad_token_id", 1)
        positions = [size - 1 - (pad if isinstance(pad, int) else 1) for size in positions]
        own = [min(own + positions)] if own else []
    return min(own or (limit + positions), default=0)


def _sizes(stated: object) -> list[int]:
    # tokenizers without a limit state an astronomically large number
    return [int(stated)] if isinstance(stated, int | float) and 0 < stated < 1_000_000 else []
