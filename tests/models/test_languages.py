"""Which models are known to read only English."""

from harness.running.readiness import reads_english_alone

ENGLISH = [
    "embedded:all-MiniLM-L6-v2",
    "embedded:maxsim",
    "sentence-transformers/all-MiniLM-L6-v2",
    "cross-encoder/ms-marco-MiniLM-L-6-v2",
    "BAAI/bge-small-en-v1.5",
    "colbert-ir/colbertv2.0",
]
OTHERS = [
    "intfloat/multilingual-e5-small",
    "BAAI/bge-small-zh-v1.5",
    "sentence-transformers/msmarco-distilbert-multilingual-en-de-v2-tmp-lng-aligned",
    "Snowflake/snowflake-arctic-embed-m-v2.0",
    "my-own-model",
]


def test_models_that_read_only_english_are_known():
    assert [name for name in ENGLISH + OTHERS if reads_english_alone(name)] == ENGLISH
