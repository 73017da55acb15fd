"""Licences of what is installed, as tools/dependencies.py reads them."""

from email.message import Message
from types import SimpleNamespace

import pytest

from tools.dependencies import allowed, unlicensed


@pytest.mark.parametrize(
    ("licence", "expected"),
    [
        ("MIT", True),
        ("MPL-2.0 AND (Apache-2.0 OR MIT)", True),
        ("GPL-3.0-only OR MIT", True),
        ("Mozilla Public License 2.0 (MPL 2.0)", True),
        ("GPL-3.0-only", False),
        ("MIT AND GPL-3.0-only", False),
        ("", False),
    ],
)
def test_a_licence_is_allowed_if_all_its_parts_are(licence, expected):
    assert allowed(licence) is expected


def test_a_package_without_an_allowed_licence_is_named():
    metadata = Message()
    metadata["Name"] = "strange"
    metadata["Classifier"] = "License :: OSI Approved :: GNU General Public License v3 (GPLv3)"
    (line,) = unlicensed([SimpleNamespace(metadata=metadata, version="1.0")])
    assert "strange 1.0" in line
    assert "GPLv3" in line
