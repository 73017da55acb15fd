import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def trec_data():
    """The folder of trec_eval's test files and the DL 2019 runs."""
    root = Path(os.environ.get("HARNESS_SHARED", Path(__file__).parents[3] / "shared"))
    folder = root / "corpora" / "trec"
    if not folder.is_dir():
        pytest.skip("needs the TREC data: set HARNESS_SHARED to the folder that holds corpora/trec")
    return folder
