"""The page's server: who may speak to it, what it answers and loads, and what it could not save."""

import re
import sqlite3

import httpx
import pytest
from starlette.testclient import TestClient

from harness.labels.label_page.guard import Keys
from harness.labels.label_page.serve import ASSETS, LARGEST_REQUEST, make_app
from tests.label_page.pools import ITEMS

HOME = "http://127.0.0.1:8765"
SAY = {
    "rater": "Ada",
    "request": "request-1",
    "item": ITEMS[0].item_id,
    "kind": "grade",
    "value": 3,
    "seen": 0,
}


@pytest.fixture
def keys():
    return Keys(8765)


@pytest.fixture
def stranger(service, keys):
    return TestClient(make_app(service, keys), base_url=HOME, follow_redirects=False)


@pytest.fixture
def client(stranger, keys):
    assert stranger.get(f"/?token={keys.token}").status_code == 200
    return stranger


def post(client, path, body, **headers):
    return client.post(path, json=body, headers={"origin": HOME, **headers})


def test_the_link_gives_a_cookie_and_the_token_leaves_the_address(stranger, keys):
    answer = stranger.get(keys.link.removeprefix(HOME))
    # the page goes on by itself: the cookie is sent although the browser may come from a file
    assert '<meta http-equiv="refresh" content="0;url=/">' in answer.text
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert keys.token.lower() not in cookie
    assert "Label" in stranger.get("/").text


def test_nothing_is_answered_without_the_key(stranger):
    for path in ("/", "/?token=wrong", "/?token=", "/assets/main.js", "/api/about", "/api/step?rater=Ada"):
        assert stranger.get(path).status_code == 403, path


def test_two_starts_have_two_keys():
    one, other = Keys(1), Keys(1)
    assert len({one.token, other.token, one.cookie, other.cookie}) == 4
    assert one.token not in repr(one)


def test_another_host_or_page_is_refused_even_with_the_key(client, service):
    for host in ("evil.example", "evil.example:8765", "127.0.0.1", "127.0.0.1:9999", ""):
        assert client.get("/api/about", headers={"host": host}).status_code == 421, host
        assert post(client, "/api/say", SAY, host=host).status_code == 421, host
    for origin in ("http://evil.example", "http://127.0.0.1:9999", "null", "", "https://127.0.0.1:8765"):
        assert post(client, "/api/say", SAY, origin=origin).status_code == 403, origin
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        answer = client.post("/api/say", content="{}", headers={"origin": HOME, "content-type": kind})
        assert answer.status_code == 415, kind
    assert client.post("/api/say", json=SAY).status_code == 403
    assert service.state.labels() == []


def test_another_port_of_this_machine_may_not_read(client):
    # for a browser, another port is another origin and the same site: the cookie comes along
    assert client.get("/api/about", headers={"sec-fetch-site": "same-site"}).status_code == 403
    assert client.get("/api/about", headers={"sec-fetch-site": "same-origin"}).status_code == 200


def test_every_response_has_security_headers(client):
    for path in ("/", "/assets/label.css", "/api/about", "/nowhere"):
        headers = client.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self';")
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in headers


def test_only_assets_are_served(client):
    for name in ("../app.py", "..%2fapp.py", "guidelines.md", "__init__.py"):
        assert client.get(f"/assets/{name}").status_code == 404, name


def test_a_grade_is_saved_and_the_next_passage_comes_with_the_answer(client, service):
    answer = post(client, "/api/say", {**SAY, "next": True, "seconds": 2.5, "tab": "t"}).json()
    assert answer["rating"]["grade"] == 3
    assert answer["next"]["item"]["item_id"] != ITEMS[0].item_id
    assert service.state.rating("Ada", ITEMS[0].item_id)[0].grade == 3
    assert service.state.seconds("Ada") == [2.5]


MALFORMED = {
    b"no json": 400,
    b"[]": 400,
    b"{}": 400,
    b'{"rater": 3}': 400,
    b'{"rater": "Ada", "request": "short"}': 400,
    b"{" + b" " * LARGEST_REQUEST + b"}": 413,
}
WRONG_PARTS = [{"seconds": "x"}, {"seconds": True}, {"seen": "x"}, {"item": None}, {"request": "x" * 81}]


def test_a_malformed_request_is_refused_with_a_message_and_saves_nothing(client, service):
    headers = {"origin": HOME, "content-type": "application/json"}
    for path in ("say", "mark", "undo", "decide"):
        for body, status in MALFORMED.items():
            answer = client.post(f"/api/{path}", content=body, headers=headers)
            assert answer.status_code == status, (path, body[:30])
            assert answer.json()["error"]
    for more in WRONG_PARTS:
        assert post(client, "/api/say", {**SAY, **more}).status_code == 400, more
    assert service.state.labels() == []


QUESTIONS = (
    "leaf?doc=plain&offset=x",
    "leaf?doc=none&offset=0",
    "leaf",
    "picture?doc=plain&page=1",
    "copies?doc=plain",
    "find?q=",
    "questions?rater=&begin=0",
)


def test_a_malformed_question_is_answered_in_words(client):
    for path in QUESTIONS:
        answer = client.get(f"/api/{path}")
        assert answer.status_code == 400, path
        assert answer.json()["error"]


def test_a_disk_that_fails_is_reported_as_not_saved(client, service, monkeypatch):
    def full(*_):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(type(service.state), "_add_event", full)
    answer = post(client, "/api/say", SAY)
    assert answer.status_code == 503
    assert "Not saved: database or disk is full" in answer.json()["error"]
    monkeypatch.undo()
    assert service.state.labels() == []
    assert post(client, "/api/say", SAY).status_code == 200


def test_half_a_character_reaches_the_page(service, keys, monkeypatch):
    half = {**service.store.part("plain"), "text": "a\ud800b"}
    monkeypatch.setattr(type(service.store), "part", lambda _, doc, offset: half)
    client = TestClient(make_app(service, keys), base_url=HOME)
    client.get(f"/?token={keys.token}")
    assert r"a\ud800b" in client.get("/api/leaf?doc=plain&offset=0").text


def test_a_picture_of_a_page_is_sent_as_one(client, service, monkeypatch):
    monkeypatch.setattr(service.store, "_files", {"plain": "plain.pdf"})
    monkeypatch.setattr(service.store, "_drawn", lambda file, page: b"\x89PNG of %d" % page)
    answer = client.get("/api/picture?doc=plain&page=2")
    assert (answer.content, answer.headers["content-type"]) == (b"\x89PNG of 2", "image/png")


def test_a_websocket_is_closed(client):
    from starlette.websockets import WebSocketDisconnect

    with pytest.raises((WebSocketDisconnect, httpx.HTTPError)), client.websocket_connect("/"):
        pass


def test_an_unknown_item_is_not_found_and_nothing_is_stored(client, service):
    unknown = {**SAY, "item": "no-such-item"}
    answers = [
        post(client, "/api/enter", {"rater": "Ada", "item": "no-such-item"}),
        post(client, "/api/say", unknown),
        post(client, "/api/decide", {**unknown, "grade": 3}),
        client.get("/api/step?rater=Ada&item=no-such-item"),
    ]
    assert [answer.status_code for answer in answers] == [404] * 4
    assert "There is no passage 'no-such-item'" in answers[0].json()["error"]
    graded = post(client, "/api/enter", unknown)
    assert graded.status_code == 400
    assert "Nothing was saved" in graded.json()["error"]
    known = post(client, "/api/enter", {"rater": "Ada", "item": ITEMS[1].item_id})
    assert known.json()["item"]["item_id"] == ITEMS[1].item_id
    assert service.state.labels() == []
    assert service.state.raters() == []


TEXTS = {name: asset.read_text(encoding="utf-8") for name, asset in ASSETS.items()}
SVG = "'http://www.w3.org/2000/svg'"


def test_assets_load_nothing_from_elsewhere():
    for name, text in TEXTS.items():
        assert not re.search(r"https?://|@import|url\(|//cdn", text.replace(SVG, "")), name
        assert "innerHTML" not in text, name
