"""Names in a question, by rules: capitals, figures and quotations; in Chinese titles, figures and endings.

No model and no dictionary, so it is repeatable, and blind to names in lower case.
"""

from __future__ import annotations

import re

NAMES_VERSION = 1

_QUOTED = re.compile(r"“([^”]{1,80})”|\"([^\"]{1,80})\"|《([^》]{1,60})》|「([^」]{1,60})」")
# Between two names these belong to one: Bank of America, Procter & Gamble.
_JOINING = frozenset({"of", "&", "de", "von", "van"})
_SCALES = frozenset({"million", "billion", "trillion", "thousand", "percent", "%"})
# Words that may begin a sentence with a capital but are not names.
_ORDINARY_WORDS = (
    "a about according after all also an and answer any are as assuming at based be because before "
    "between both briefly but by calculate can compare compute could describe did do does during each "
    "every excluding explain find for from give given had has have he her his how however i if in "
    "including into is it its let list looking many may might most much must my name no not of on one "
    "or our over per please provide refer roughly same say she should show since so some state such "
    "summarize tell than that the their them then there these they this those through to under until up "
    "us use using was we were what what's whats when where whether which while who who's whom whose why "
    "will with within without would you your"
)
_ORDINARY = frozenset(_ORDINARY_WORDS.split())
_PIECE = re.compile(r"[^\s\u3000-\u303f\u3400-\u9fff\uff00-\uffef]+|[\u3400-\u9fff]+")
_EDGES = "\"'“”‘’()[]{}<>,;:!?*…"
_INITIALS = re.compile(r"(?:[A-Z]\.)+")
_SHORTENED = re.compile(r"(?:Inc|Corp|Co|Ltd|No|St|Mr|Mrs|Ms|Dr|vs)\.")
_HAN = re.compile(r"[\u3400-\u9fff]")
# Where one Chinese name ends and another thing begins; a rule of thumb in place of a segmenter.
_CHINESE_BREAKS = re.compile(
    r"[的是在和与及或对从由被将把请问吗呢了为]|有(?!限)|什么|多少|哪些|哪个|哪家|哪年|哪里|谁|如何|怎么|怎样|为什么|几|截至|根据|关于"
)
_CHINESE_ENDS = (
    "公司|集团|银行|大学|学院|医院|研究院|研究所|委员会|政府|法院|工厂|项目|计划|协议|合同|条例|办法|"
    "省|市|县|区|州|国|港|路|桥|江|河|湖|山|岛"
)
_CHINESE_NAME = re.compile(rf"^[\u3400-\u9fff]{{1,16}}?(?:{_CHINESE_ENDS})$")
_CHINESE_FIGURE = re.compile(
    r"[\d,.]*\d(?:\s?(?:年度?|月份?|日|季度|万|亿|元|美元|万元|亿元|%|％|吨|台|辆|人|公里|千瓦)+)?"
)


def names_in(text: str) -> list[str]:
    """The names, figures and quotations of a question, distinct, in the order in which they stand."""
    found: list[tuple[int, str]] = []
    bare = list(text)
    for quoted in _QUOTED.finditer(text):
        found.append((quoted.start(), next(part for part in quoted.groups() if part is not None).strip()))
        bare[quoted.start() : quoted.end()] = "," * (quoted.end() - quoted.start())
    rest = "".join(bare)
    found += _chinese(rest) if _HAN.search(rest) else _by_capitals(rest)
    return list(dict.fromkeys(name for _, name in sorted(found, key=lambda one: one[0]) if name))


def _by_capitals(text: str) -> list[tuple[int, str]]:
    """Runs of words that have a capital or a figure; a sentence's first word where it is not ordinary."""
    found: list[tuple[int, list[str]]] = []
    run: list[str] = []
    joining: list[str] = []
    at, first = 0, True
    for piece in _PIECE.finditer(text):
        word = piece[0].strip(_EDGES).removesuffix("'s").removesuffix("’s")
        word = word if _INITIALS.fullmatch(word) else word.rstrip(".")
        if _names(word, first):
            if not run:
                at = piece.start()
            run += [*joining, word]
            joining = []
        elif run and word.lower() in _SCALES and any(map(str.isdigit, run[-1])):
            run.append(word)
        elif run and not joining and word.lower() in _JOINING:
            joining = [word]
        else:
            found, run, joining = [*found, (at, run)], [], []
        ended = piece[0][-1] in ",;:!?" or piece[0].endswith("'s") or piece[0].endswith("’s")
        first = piece[0][-1] in ".?!:" and not _is_abbreviation(piece[0])
        if ended or first:
            found, run, joining = [*found, (at, run)], [], []
    return [(place, " ".join(words)) for place, words in [*found, (at, run)] if words]


def _names(word: str, first: bool) -> bool:
    if not any(map(str.isalnum, word)):
        return False
    if word.lower() in _ORDINARY:
        # the pronoun and words at the beginning of a sentence; US and IT are written otherwise
        return len(word) > 1 and word.isupper() and not first
    return any(letter.isupper() or letter.isdigit() for letter in word)


def _is_abbreviation(word: str) -> bool:
    return bool(_INITIALS.fullmatch(word) or _SHORTENED.fullmatch(word))


def _chinese(text: str) -> list[tuple[int, str]]:
    found = [(one.start(), one[0].replace(" ", "")) for one in _CHINESE_FIGURE.finditer(text)]
    # Latin letters among Chinese ones name something, whatever their case
    found += [
        (one.start(), one[0]) for one in re.finditer(r"[A-Za-z][\w&.'-]*(?: [A-Z][\w&.'-]*)*", text, re.ASCII)
    ]
    # the 年 of a year is not part of the name after it
    bare = _CHINESE_FIGURE.sub(lambda figure: " " * len(figure[0]), text)
    for run in re.finditer(r"[\u3400-\u9fff]+", bare):
        end = 0
        for stop in [*_CHINESE_BREAKS.finditer(run[0]), None]:
            begin, until = end, len(run[0]) if stop is None else stop.start()
            piece = run[0][begin:until]
            if _CHINESE_NAME.fullmatch(piece):
                found.append((run.start() + begin, piece))
            end = until if stop is None else stop.end()
    return found
