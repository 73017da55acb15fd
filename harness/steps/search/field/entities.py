"""Names, figures and quotations by rules: no model, and no dictionary but a list of places.

English by capitals and figures, Chinese by titles (《…》), figures, endings and places. Names in lower case
and Chinese names of people are not seen.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import itemgetter
from typing import Any, Literal

from harness.steps.search.field import Field, FieldConfig, Fingerprint, Names, NamesOfQueries

# Raised when the rules find other names.
_VERSION = 3

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
_ABBREVIATION = re.compile(rf"{_INITIALS.pattern}|(?:Inc|Corp|Co|Ltd|No|St|Mr|Mrs|Ms|Dr|vs)\.")
_HAN = re.compile(r"[\u3400-\u9fff]")
# Where one Chinese name ends and another thing begins; a rule of thumb in place of a segmenter.
_CHINESE_BREAKS = re.compile(
    r"[的是在和与及或对从由被将把请问吗呢了为哪各每该]|有(?!限)|什么|多少|谁|如何|怎么|怎样|几|截至|根据|关于|"
    r"分别|本(?=公司|集团|行|校|院)|不是|成为|发生|举办|主办|位于|属于|以及|之间|期间|合计|一共|总共"
)
_CHINESE_PLACES = (
    "北京 天津 上海 重庆 河北 山西 辽宁 吉林 黑龙江 江苏 浙江 安徽 福建 江西 山东 河南 湖北 湖南 广东 广西 "
    "海南 四川 贵州 云南 西藏 陕西 甘肃 青海 宁夏 新疆 内蒙古 香港 澳门 台湾 广州 深圳 南京 杭州 武汉 成都 "
    "西安 苏州 中国 美国 英国 法国 德国 日本 韩国 朝鲜 俄罗斯 印度尼西亚 印度 巴西 南非 埃及 尼日利亚 "
    "澳大利亚 新西兰 加拿大 墨西哥 阿根廷 智利 秘鲁 西班牙 葡萄牙 意大利 希腊 荷兰 比利时 瑞士 瑞典 挪威 "
    "丹麦 芬兰 波兰 捷克 奥地利 匈牙利 乌克兰 土耳其 伊朗 伊拉克 以色列 沙特阿拉伯 沙特 阿联酋 卡塔尔 "
    "巴基斯坦 泰国 越南 老挝 柬埔寨 缅甸 马来西亚 新加坡 菲律宾 蒙古 哈萨克斯坦 欧盟 东盟 欧洲 亚洲 非洲 "
    "东京 里约 纽约 伦敦 巴黎 莫斯科"
).replace(" ", "|")
# They end a name wherever they stand; those of one character only before a break.
_CHINESE_ENDS = (
    "有限公司|公司|集团|控股|股份|银行|证券|保险|基金|大学|学院|中学|医院|研究院|研究所|委员会|协会|联盟|政府|法院|工厂|"
    "基地|油田|机场|大桥|项目|计划|协议|合同|条例|办法|规定|章程|锦标赛|世锦赛|联赛|巡回赛|峰会|博览会|立法会|电影节|春晚|"
    "事变|战争|地震|起义|革命|[一二三四五六七八九十]号"
)
_CHINESE_EVENTS = "奥运会|冬奥会|残奥会|亚运会|军运会|世界杯"
_CHINESE_SHORT_ENDS = "省|市|县|区|州|国|港|路|桥|江|河|湖|山|岛|奖"
_CHINESE_NAME = re.compile(
    rf"[\u3400-\u9fff]{{1,12}}?(?:{_CHINESE_ENDS}|{_CHINESE_EVENTS})+|{_CHINESE_EVENTS}|"
    rf"(?:{_CHINESE_PLACES})(?:省|市)?|[\u3400-\u9fff]{{1,15}}(?:{_CHINESE_SHORT_ENDS})$"
)
# What stands before an ending in a word that is not a name: 子公司, 上市公司, 成员国, 参赛国.
_CHINESE_COMMON = re.compile(
    r"(?:[新我其两子母总分家个给大小多城]|上市|海外|国内|国外|境外|全资|控股|成员|主席|参赛|东道|研发|发达|生产|首都)*"
    rf"(?:{_CHINESE_ENDS}|{_CHINESE_SHORT_ENDS})"
)
_CHINESE_ORDINAL = r"[一二三四五六七八九十百\d]+"
_CHINESE_FIGURE = re.compile(
    rf"第{_CHINESE_ORDINAL}(?:季度|届|任|期|代|章|条|号)|"
    r"[\d,.]*\d(?:[-–~～]\d+)?(?:\s?(?:年(?:度|初|末|底|[上下]半年|第?[一二三四1-4]季度)?|月份?|日|季度|"
    r"[十百千万亿]*(?:美元|元|%|％|吨|台|辆|公里|米|千瓦时|千瓦|兆瓦时|度|人(?![口均民员类]))|[十百千万亿]+))?"
)
_LATIN = re.compile(r"[A-Za-z][\w&.'-]*(?: [A-Z\d][\w&.'-]*)*", re.ASCII)


def names_in(text: str) -> Names:
    """The names, figures and quotations in a text, distinct, in the order of the text."""
    placed: list[tuple[int, str]] = []
    bare = list(text)
    for quoted in _QUOTED.finditer(text):
        placed.append((quoted.start(), next(part for part in quoted.groups() if part is not None).strip()))
        bare[quoted.start() : quoted.end()] = "," * (quoted.end() - quoted.start())
    rest = "".join(bare)
    placed += _chinese(rest) if _HAN.search(rest) else _by_capitals(rest)
    return tuple(dict.fromkeys(name for _, name in sorted(placed, key=itemgetter(0)) if name))


def _by_capitals(text: str) -> list[tuple[int, str]]:
    """Runs of words that have a capital or a figure; a sentence's first word where it is not ordinary."""
    names: list[tuple[int, list[str]]] = []
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
            names, run, joining = [*names, (at, run)], [], []
        ended = piece[0][-1] in ",;:!?" or piece[0].endswith("'s") or piece[0].endswith("’s")
        first = piece[0][-1] in ".?!:" and not _ABBREVIATION.fullmatch(piece[0])
        if ended or first:
            names, run, joining = [*names, (at, run)], [], []
    return [(place, " ".join(words)) for place, words in [*names, (at, run)] if words]


def _names(word: str, first: bool) -> bool:
    if not any(map(str.isalnum, word)):
        return False
    if word.lower() in _ORDINARY:
        # the pronoun and words at the beginning of a sentence; US and IT are written otherwise
        return len(word) > 1 and word.isupper() and not first
    return any(letter.isupper() or letter.isdigit() for letter in word)


def _chinese(text: str) -> list[tuple[int, str]]:
    placed = []
    # Latin letters among Chinese ones name something, whatever their case; the figures of 2023年 and MIX2 are
    # not part of the name after them
    for rule in (_LATIN, _CHINESE_FIGURE):
        placed += [(match.start(), re.sub(r"(?<=\d) ", "", match[0])) for match in rule.finditer(text)]
        text = rule.sub(lambda match: " " * len(match[0]), text)
    text = _CHINESE_BREAKS.sub(lambda match: " " * len(match[0]), text)
    for run in re.finditer(r"[\u3400-\u9fff]+", text):
        names = (name for name in _CHINESE_NAME.finditer(run[0]) if not _CHINESE_COMMON.fullmatch(name[0]))
        placed += [(run.start() + name.start(), name[0]) for name in names]
    return placed


class EntitiesConfig(FieldConfig):
    """The names, figures and quotations in queries and passages, by rules, in English and Chinese."""

    kind: Literal["entities"] = "entities"


class EntitiesField(Field[EntitiesConfig]):
    """Names as `names_in` finds them."""

    def identity(self, fingerprint: Fingerprint) -> list[Any]:
        """The rules."""
        return ["entities", _VERSION]

    def of_passages(self, texts: Sequence[str]) -> Sequence[Names]:
        """The names that the rules find."""
        return list(map(names_in, texts))

    def of_texts(self, texts: Sequence[str]) -> NamesOfQueries:
        """The names that the rules find."""
        return NamesOfQueries(list(map(names_in, texts)))
