"""Secrets known by their look, wherever somebody wrote them: keys of providers, bearer tokens, random tokens.

A name such as ``api_key`` says that its value may be secret, but people write keys into other places too. So
each text that is printed, recorded or kept by the ledger goes through ``redacted``, and a configuration that
holds such a value is refused. Hashes, revisions, ids, names and words do not look like it: they are of
hexadecimal digits, have a known beginning, or do not mix letters and digits as chance does.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from itertools import chain, pairwise, zip_longest
from typing import Any

MARK = "[secret]"
LOOKS_SECRET = (
    "this looks like a secret, which no configuration may hold, because it is recorded and shown. Name the "
    "environment variable that holds it, in api_key_env or headers_env. If it is a secret, revoke it."
)

# What keys of providers look like: how they begin, and how long the rest is at least.
_BEGINNINGS = (
    *(r"gh[opsur]_\w{16,}", r"github_pat_\w{16,}", r"glpat-[\w-]{16,}", r"hf_[A-Za-z0-9]{16,}"),
    *(
        r"xox[a-z](?:\.xox[a-z])?-[\w-]{10,}",
        r"xapp-[\w-]{16,}",
        r"(?:AKIA|ASIA)[0-9A-Z]{16}",
        r"AIza[\w-]{30,}",
    ),
    *(r"GOCSPX-[\w-]{20,}", r"ya29\.[\w-]{16,}", r"gsk_\w{16,}", r"xai-\w{16,}", r"nvapi-[\w-]{16,}"),
    *(r"pplx-\w{16,}", r"csk-\w{16,}", r"fw_\w{20,}", r"r8_\w{20,}", r"tgp_v1_[\w-]{16,}", r"jina_\w{20,}"),
    *(r"pa-[\w-]{30,}", r"[rs]k_(?:live|test)_\w{8,}", r"pypi-[\w-]{20,}", r"npm_\w{20,}", r"dop_v1_\w{20,}"),
    *(r"LTAI\w{12,}", r"AKID\w{16,}", r"bce-v3/ALTAK-\w{10,}/[0-9a-f]{16,}", r"SG\.[\w-]{16,}\.[\w-]{16,}"),
    *(r"pcsk_\w{16,}", r"lsv2_\w{16,}", r"[sp]k-lf-[\w-]{16,}", r"wandb_v1_[\w-]{20,}", r"dapi[0-9a-f]{32}"),
    *(r"dckr_pat_[\w-]{20,}", r"hv[sbr]\.[\w-]{20,}", r"lin_api_\w{20,}", r"shp(?:at|ca|pa|ss)_\w{20,}"),
    *(r"ntn_\w{20,}", r"glsa_\w{20,}", r"sbp_[0-9a-f]{30,}", r"key-[0-9a-f]{32}", r"SK[0-9a-f]{32}"),
    *(r"\d{8,10}:AA[\w-]{30,}", r"[\w~.-]{3}[78]Q~[\w~.-]{30,}", r"[A-Za-z0-9]{44,}JQQJ99[A-Za-z0-9]{16,}"),
    *(r"hooks\.slack\.com/services/\w+/\w+/\w{16,}", r"discord(?:app)?\.com/api/webhooks/\d+/[\w-]{30,}"),
    # tokens of JSON in three parts or five, and keys of GLM
    *(r"eyJ[\w-]{8,}(?:\.[\w-]*){2,4}", r"[0-9a-f]{32}\.[A-Za-z0-9]{16}"),
)
_KEYS = re.compile(rf"(?<![A-Za-z0-9_-])(?:{'|'.join(_BEGINNINGS)})", re.ASCII)
_SK = re.compile(r"(?<![A-Za-z0-9_])sk[-_](?P<rest>[A-Za-z0-9_-]{6,})", re.ASCII)
_BEARER = re.compile(r"(?i)\bbearer[ \t]+(?P<token>[A-Za-z0-9._~+/=-]{8,})")
_BASIC = re.compile(r"(?i)\bbasic[ \t]+(?P<token>[A-Za-z0-9+/]{8,}={0,2})(?![A-Za-z0-9+/=-])")
_AUTHORIZATION = re.compile(
    r"(?i)\bauthorization[\"']?\s*[:=]\s*[\"']?(?:\w+[ \t]+)?(?P<token>[\w.~+/=-]{6,})"
)
# Names of what is secret whatever it looks like, as in headers, variables, forms and messages of servers.
_NAMES = (
    r"api[-_ ]?key|subscription[-_ ]?key|(?:secret|private|access|account)[-_ ]?(?:access[-_ ]?)?key"
    r"|(?:client|app|shared)[-_ ]?secret|(?:access|auth|refresh|session|security|id)[-_ ]?token"
    r"|passw(?:or)?d|pwd|密钥|密码|口令|令牌"
)
_NAMED = re.compile(
    rf"(?i)(?:{_NAMES})[\\\"'\]]{{0,4}}"
    r"(?:(?: (?:provided|given|is))?[ \t]*[:=：][ \t]*|[ \t]+(?:is[ \t]+)?(?=[\"'`])|[ \t]+is[ \t]+)"
    r"[\\\"'`]{0,4}(?P<token>[A-Za-z0-9._~+/=-]{8,})"
)
_SECRET_NAME = re.compile(rf"(?i)(?:[\w-]*[-_])?(?:{_NAMES}|authorization)")
_IN_ADDRESS = re.compile(
    rf"(?i)[?&;#](?:[\w-]{{0,20}}(?:{_NAMES})|key|token|secret|sig|jwt|[\w-]{{0,20}}(?:signature|credential))="
    r"(?P<token>[^&\s#\"'<>]{6,})"
    r"|://[^/\s:@\"'<>]*:(?P<password>[^/\s@\"'<>]{3,})@"
    r"|://(?P<user>(?=[^/\s:@]*\d)[A-Za-z0-9_-]{20,})@"
)
_PRIVATE = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?")
# Letters and digits without a break; other signs divide a path, a name or a sentence.
_RUN = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]{20,}(?![A-Za-z0-9])")
_UNEXPECTED = re.compile(r"(?<![A-Za-z0-9])(?=[A-Za-z]{0,27}[0-9])[A-Za-z0-9]{28,}(?![A-Za-z0-9])")
# The two alphabets of base64, of which every thirty-second sign is no letter or digit.
_BASE64 = re.compile(r"(?<![\w+/=.~-])(?:[A-Za-z0-9_-]{28,}|[A-Za-z0-9+/]{38,})={0,2}(?![\w+/=~-])", re.ASCII)
# What is in base64 and no secret: files within a text, and digests.
_NO_SECRET = re.compile(
    r"(?i)data:[\w.+/-]{0,80};base64,[\w+/=-]*|\bsha(?:1|224|256|384|512)-[A-Za-z0-9+/]{20,}={0,2}"
)
# What ids of requests, answers and builds begin with; they are no secrets, and records keep them.
_ID = re.compile(
    r"(?i)(?:chatcmpl|cmpl|resp|req|request|run|msg|call|fp|gen|batch|file|sha\d*|md5|id|key|step|snapshot"
    r"|trace|span|job|uuid|etag|rev|commit|gen-\d+)[-_:=/]$"
)
_ID_BEFORE = re.compile(rf"{_ID.pattern[:-1]}")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")
_HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_SPELLED_KEY = re.compile(
    r"(?i)secret|password|token|api|proj|(?:^|[-_])(?:ant|or|live|test|svcacct|admin|key|fake|my)[-_]"
)
# Changes from one kind of letter to another, by length: of small and capital letters and digits drawn at
# random 0.62 on average, of letters of both cases 0.5, of digits and letters of one case 0.4; of words in
# CamelCase up to 0.27, and of words with a year or a number behind them up to 0.15.
_CHANGES_OF_THREE, _CHANGES_OF_CASE, _CHANGES_WITH_DIGITS = 0.4, 0.28, 0.2
_CHANGES_IN_BASE64 = 0.45
_LONG = 32


def redacted(text: str) -> str:
    """The text with ``MARK`` in place of whatever looks like a secret; any other text is the same."""
    if len(text) < 8:
        return text
    if "base64," in text or "sha" in text:
        kept = _NO_SECRET.findall(text)
        parts = (_redacted(part) for part in _NO_SECRET.split(text))
        return "".join(chain.from_iterable(zip_longest(parts, kept, fillvalue="")))
    return _redacted(text)


def _redacted(text: str) -> str:
    for pattern, pick in _SHAPES:
        text = pattern.sub(pick, text)
    return text


def abridged(text: str) -> str:
    """The text with the first signs alone of each long run of letters and digits, which may be a secret.

    For messages about what was not expected: a hash has no place there, and nothing tells keys of
    hexadecimal digits from hashes.
    """
    return _UNEXPECTED.sub(lambda match: f"{match[0][:4]}…", text)


def holds_secret(text: str) -> bool:
    """Whether something in a text looks like a secret."""
    return redacted(text) != text


def redacted_value(value: Any) -> Any:
    """The same of every text in a value of lists and mappings, names included; others stay as they are."""
    if isinstance(value, str):
        return redacted(value)
    if isinstance(value, Mapping):
        return {
            redacted_value(name): MARK if _is_named(name, part) else redacted_value(part)
            for name, part in value.items()
        }
    if isinstance(value, list | tuple):
        parts = [redacted_value(part) for part in value]
        return parts if isinstance(value, list) else tuple(parts)
    return value


def secret_in(value: Any) -> tuple[str | int, ...] | None:
    """The path of the first secret among the names and texts of a value; None without one.

    A name may be the secret: whoever shows the path has to redact it.
    """
    if isinstance(value, str):
        return () if holds_secret(value) else None
    if isinstance(value, Mapping):
        for name, part in value.items():
            secret = _is_named(name, part) or (isinstance(name, str) and holds_secret(name))
            path = () if secret else secret_in(part)
            if path is not None:
                return (str(name), *path)
    if isinstance(value, list | tuple):
        for place, part in enumerate(value):
            if (path := secret_in(part)) is not None:
                return (place, *path)
    return None


def _is_named(name: Any, value: Any) -> bool:
    """Whether a field has a name of secrets, and a value that may be one."""
    texts = isinstance(name, str) and isinstance(value, str)
    return texts and bool(_SECRET_NAME.fullmatch(name)) and _may_be_secret(value)


def _may_be_secret(token: str) -> bool:
    """Whether what has the name of a secret is one: not a word, a number, or the name of a variable."""
    return (
        len(token) >= 8
        and not token.isspace()
        and not _VARIABLE.fullmatch(token)
        and any(map(str.isdigit, token))
        and any(map(str.isalpha, token))
    )


def _whole(match: re.Match[str]) -> str:
    return MARK


def _if_key(match: re.Match[str]) -> str:
    """``sk-`` begins keys, and also names such as sk-learn: a key has digits among letters, or is long."""
    rest = match["rest"]
    parts = re.split("[-_]", rest)
    random = any(
        len(part) >= 16 or (len(part) >= 6 and part.isdigit()) or (len(part) >= 6 and _mixed(part))
        for part in parts
    )
    spelled = len(rest) >= 8 and _SPELLED_KEY.search(rest)
    return MARK if random or spelled else match[0]


def _mixed(part: str) -> bool:
    """Whether letters and digits, or letters of both cases, are mixed within a word."""
    if part.isdigit():
        return False
    return not part.isalpha() or part[1:] not in (part[1:].lower(), part[1:].upper())


def _if_token(match: re.Match[str]) -> str:
    """``Bearer`` is a word too, as in bearer shares: a token has digits, signs or letters of both cases."""
    token = match["token"]
    parts = [part for part in re.split(r"[-._~+/=]", token) if part]
    plain = all(
        part.isdigit() or (part.isalpha() and part[1:].islower() and len(part) < 20) for part in parts
    )
    return match[0] if plain and not _SPELLED_KEY.search(token) else match[0].replace(token, MARK)


def _token(match: re.Match[str]) -> str:
    """The token alone; the name of an environment variable stands for one and is none."""
    token = next(part for part in match.groups() if part)
    return match[0] if _VARIABLE.fullmatch(token) else match[0].replace(token, MARK)


def _if_named(match: re.Match[str]) -> str:
    token = match["token"].rstrip(".")
    return match[0].replace(token, MARK) if _may_be_secret(token) else match[0]


def _if_basic(match: re.Match[str]) -> str:
    """``Basic`` is a word too: its token holds a name and a password with a colon between them."""
    token = match["token"]
    try:
        plain = base64.b64decode(token, validate=True).decode()
    except ValueError:
        return match[0]
    return match[0].replace(token, MARK) if ":" in plain and plain.isprintable() else match[0]


def _if_base64(match: re.Match[str]) -> str:
    """A run in base64 that changes between kinds as chance has it, with as few signs as chance has them."""
    run = match[0].rstrip("=")
    letters = re.sub(r"[-_+/]", "", run)
    if _ID_BEFORE.match(run) or len(run) - len(letters) > len(run) / 10 or len(_kinds(letters)) < 3:
        return match[0]
    return MARK if _changes(letters) >= _CHANGES_IN_BASE64 * len(letters) else match[0]


def _kinds(run: str) -> set[str]:
    return {_kind(char) for char in run}


def _kind(char: str) -> str:
    return "0" if char.isdigit() else "a" if char.islower() else "A"


def _changes(run: str) -> int:
    """How often a run changes from one kind of letter to another."""
    return sum(_kind(first) != _kind(second) for first, second in pairwise(run))


def _if_random(match: re.Match[str]) -> str:
    """A run of letters and digits that changes between kinds as often as chance has it, and is no id."""
    run = match[0]
    if _HEX.fullmatch(run) or _ID.search(match.string, max(0, match.start() - 24), match.start()):
        return run
    kinds = _kinds(run)
    if len(kinds) == 1 or (len(kinds) == 2 and len(run) < _LONG):
        return run
    least = (
        _CHANGES_OF_THREE if len(kinds) == 3 else _CHANGES_WITH_DIGITS if "0" in kinds else _CHANGES_OF_CASE
    )
    return MARK if _changes(run) >= least * len(run) else run


_SHAPES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (_PRIVATE, _whole),
    (_AUTHORIZATION, _token),
    (_BEARER, _if_token),
    (_BASIC, _if_basic),
    (_IN_ADDRESS, _token),
    (_KEYS, _whole),
    (_SK, _if_key),
    (_NAMED, _if_named),
    (_BASE64, _if_base64),
    (_RUN, _if_random),
)
