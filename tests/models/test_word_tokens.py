"""Words as tokens, for settings that name no model."""

import pytest

from harness.models import WordTokenizer, default_tokenizer
from harness.values import token_counts


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        (
            "It rose by 5.2 % to $1,000.",
            ["It", "rose", "by", "5", ".", "2", "%", "to", "$", "1", ",", "000", "."],
        ),
        ("na\u00efve Gr\u00f6\u00dfe, a_b", ["naïve", "Größe", ",", "a", "_", "b"]),
        ("\u51c0\u5229\u6da6\u4e3a 5 \u4ebf", ["净", "利", "润", "为", "5", "亿"]),
        ("", []),
        (" \n", []),
    ],
)
def test_a_token_is_a_word_a_mark_or_a_character_of_a_script_without_spaces(text, tokens):
    tokenizer = WordTokenizer()
    assert [text[start:end] for start, end in tokenizer.offsets([text])[0]] == tokens
    assert token_counts(tokenizer, [text]) == [len(tokens)]


def test_the_model_that_is_installed_counts_by_default(monkeypatch):
    assert default_tokenizer() == "embedded:all-MiniLM-L6-v2"
    monkeypatch.setattr("harness.models.word_tokens.find_spec", lambda _: None)
    assert default_tokenizer() == "words"
