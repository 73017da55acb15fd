"""Certificates that are trusted are read once, and anew where others are named."""

from pathlib import Path

import certifi

from harness.models import Connection, HttpConfig


def trusted():
    return Connection(HttpConfig())._http._transport._pool._ssl_context


def test_they_are_read_once_and_anew_where_the_environment_names_others(monkeypatch, tmp_path):
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
    usual = trusted()
    assert usual is trusted()
    assert len(usual.get_ca_certs()) > 1
    text = Path(certifi.where()).read_text(encoding="utf-8")
    end = "-----END CERTIFICATE-----"
    (tmp_path / "own.pem").write_text(text[: text.index(end) + len(end)] + "\n")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "own.pem"))
    assert len(trusted().get_ca_certs()) == 1
