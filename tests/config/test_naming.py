"""The names of settings, and of the files that stand for them."""

import pytest

from harness.running.config.naming import file_names, name_settings
from harness.steps import CHUNKERS, FILTERS, RETRIEVERS, REWRITERS, Bm25Config

LangchainConfig = CHUNKERS["langchain"].config
LlmFilterConfig = FILTERS["llm"].config
ChromaConfig = RETRIEVERS["chroma"].config
LlmRewriterConfig = REWRITERS["llm"].config

STEPS = dict.fromkeys(("chunk", "rewrite", "filter", "read")) | {"context": (), "rerank": ()}


def names_of(key, *configs):
    """The names of settings that differ in one step."""
    return name_settings([STEPS | {"retrieve": Bm25Config(), key: config} for config in configs])


def names_of_models(*models):
    return names_of("retrieve", *(ChromaConfig(model=model) for model in models))


@pytest.mark.parametrize(
    ("models", "names"),
    [
        (("hub/one", "hub/two"), ["embed=one", "embed=two"]),
        (("a/model", "b/model"), ["embed=a/model", "embed=b/model"]),
        (("x/a/model", "y/a/model", "other"), ["embed=x/a/model", "embed=y/a/model", "embed=other"]),
        (("model", "a/model"), ["embed=model", "embed=a/model"]),
        (("embedded:all-MiniLM-L6-v2", "a/b"), ["embed=all-MiniLM-L6-v2", "embed=b"]),
    ],
)
def test_models_are_called_by_as_much_of_their_path_as_tells_them_apart(models, names):
    assert names_of_models(*models) == names
    for pair in (("a b", "a_b"), ("./a/model", "a/model"), ("embedded:maxsim", "maxsim")):
        assert len(set(names_of_models(*pair))) == 2


def test_a_kind_of_two_steps_is_named_with_its_step_where_names_would_be_the_same():
    served = {"endpoint": {"model": "m", "base_url": "http://localhost:1/v1"}}
    plain = STEPS | {"retrieve": Bm25Config()}
    rewritten = {"rewrite": LlmRewriterConfig(**served)}
    narrowed = {"filter": LlmFilterConfig(**served, file="table.csv", fields=["a"])}
    each = [plain, plain | rewritten, plain | narrowed]
    assert name_settings(each) == ["rewrite=none", "rewrite=llm", "filter=llm"]
    assert name_settings([plain, plain | rewritten | narrowed]) == ["rewrite=none", "llm llm"]
    # where only one of the steps varies, the kind is enough
    assert name_settings(each[:2]) == ["rewrite=none", "llm"]


def test_files_of_settings_stay_in_their_folder_and_apart():
    odd = ["../../x", "..", "a/b", "a-b", "A-b", "a\0b", "a\nb", "\x1b[2J", "C:\\x", "", "a b"]
    odd += ["é" * 300, "x" * 300, *("embed=" + "m" * 300 + end for end in "ab")]
    odd += [f"embed=m{end}" for end in ("\x1b", "\x07", "")]
    assert file_names(["chunk=500/50 top_k=5"]) == {"chunk=500/50 top_k=5": "chunk=500-50_top_k=5"}
    names = file_names(odd)
    assert len({name.casefold() for name in names.values()}) == len(odd)
    for name in names.values():
        assert "/" not in name
        assert name.isprintable()
        assert not name.startswith(".")
        assert "\\" not in name
        assert 0 < len(name.encode()) <= 180


def test_arguments_are_named_in_words_and_never_alike():
    def names(*arguments):
        return names_of("chunk", *(LangchainConfig(arguments=one) for one in arguments))

    sizes = ({"chunk_size": size, "chunk_overlap": 0} for size in (400, 800))
    assert names(*sizes) == [f"arguments=chunk_size={size},chunk_overlap=0" for size in (400, 800)]
    alike = (({"a": 1}, {"a": "1"}), ({"a": "x y"}, {"a": "x_y"}), ({"a": [1]}, {"a": [2]}), ({}, {"a": 1}))
    for pair in alike:
        assert len(set(names(*pair))) == 2
