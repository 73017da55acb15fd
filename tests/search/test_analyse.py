"""Text → terms: words, numbers, languages, synonyms."""

import numpy as np
import pytest

from harness.steps import Analyser, Bm25Config, Synonyms
from harness.values import ConfigError

MIXED = "In 2024, the company's 96,773 employees grew 4.2%. 李白的朋友是谁? 特斯拉"
PAIRS = "李白 白的 的朋 朋友 友是 是谁 特斯 斯拉"


@pytest.mark.parametrize(
    ("name", "stop_words", "terms"),
    [
        ("plain", "long", "in 2024 the company's 96,773 employees grew 4.2% 李白的朋友是谁 特斯拉"),
        ("english", "long", "2024 compani 96,773 employe grew 4.2% 李白的朋友是谁 特斯拉"),
        ("cjk", "long", f"in 2024 the company's 96,773 employees grew 4.2% {PAIRS}"),
        ("auto", "none", f"in 2024 the compani 96,773 employe grew 4.2% {PAIRS}"),
    ],
)
def test_every_analyser_has_its_terms(name, stop_words, terms):
    assert Analyser(name, stop_words).terms(MIXED) == terms.split()


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("1,234.5 and 3.5mm; Q3, 10-K v2.5", ["1,234.5", "and", "3.5mm", "q3", "10", "k", "v2.5"]),
        ("1. First, 20% (30 %) a.b 5.", ["1", "first", "20%", "30", "a", "b", "5"]),
        ("ＦＵＬＬ　ｗｉｄｔｈ ５０％ ﬁne", ["full", "width", "50%", "fine"]),
        ("don’t 'quoted' rock'n'roll", ["don't", "quoted", "rock'n'roll"]),
        ("Zusammen\u00adarbeit Ünïcode naïve", ["zusammenarbeit", "ünïcode", "naïve"]),
        # vowel signs belong to their word
        ("हिन्दी में", ["हिन्दी", "में"]),
        # a Chinese comma does not make one number of two, a Latin one within digits does
        ("2024，2025 2024,2025", ["2024", "2025", "2024,2025"]),
        ("snake_case --- …", ["snake", "case"]),
    ],
)
def test_words_and_numbers_stay_whole(text, terms):
    assert Analyser("plain", "none").terms(text) == terms


def test_a_plain_pattern_finds_the_words_of_the_general_one():
    rng = np.random.default_rng(1)
    marks = ".,'%’ -_\n£©®°±·×÷€" + "".join(map(chr, [*range(0x2010, 0x2028), *range(0x2030, 0x205F)]))
    letters = list("ab1290Z") * 8 + list(marks) + list(".,'% ") * 6
    plain = Analyser("plain", "none").terms
    for _ in range(3_000):
        text = "".join(rng.choice(letters, size=30))
        # a letter beyond ASCII, apart, asks for the general pattern
        assert plain(text) == plain(f"{text} é")[:-1]


def test_japanese_and_korean_are_pairs_and_one_character_is_a_term():
    terms = Analyser("auto", "long").terms
    assert terms("東京タワーへ") == ["東京", "京タ", "タワ", "ワー", "ーへ"]
    assert terms("한국어 처리") == ["한국", "국어", "처리"]
    assert terms("水") == ["水"]
    # half-width kana are the same word
    assert terms("ﾀﾜｰ") == ["タワ", "ワー"]


def test_stop_words_are_a_choice():
    text = "What was the revenue of the company?"
    assert Analyser("auto", "long").terms(text) == ["revenu", "compani"]
    assert Analyser("auto", "short").terms(text) == ["what", "revenu", "compani"]
    assert len(Analyser("auto", "none").terms(text)) == 7
    assert Analyser("english", "long").identity != Analyser("english", "short").identity
    # an analyser without stop words does not depend on the choice
    assert Analyser("plain", "long").identity == Analyser("plain", "short").identity


@pytest.mark.slow
def test_jieba_cuts_chinese_into_words_and_knows_the_words_of_the_user():
    pytest.importorskip("jieba")
    text = "李白喜欢云计算平台 Model 东京タワー"
    plain, own = Analyser("jieba", "long"), Analyser("jieba", "long", "云计算平台 10\n")
    assert "云计算平台" not in plain.terms(text)
    assert "云计算平台" in own.terms(text)
    assert plain.terms(text)[:2] == ["李白", "喜欢"]
    # what is not Chinese alone is cut without its dictionary
    assert plain.terms(text)[-5:] == ["model", "东京", "京タ", "タワ", "ワー"]
    assert plain.identity != own.identity


@pytest.fixture
def synonyms():
    def read(text):
        return Synonyms.parse(text, "synonyms.txt", Analyser("auto", "long").terms)

    return read


def test_synonyms_replace_or_add(synonyms):
    rules = synonyms("# cars\ncars, automobiles => vehicle\n\nCEO, chief executive officer\n")
    assert rules.expand(["car", "sold"]) == ["vehicl", "sold"]
    assert rules.expand(["vehicl"]) == ["vehicl"]
    assert rules.expand(["ceo"]) == ["ceo", "chief", "execut", "offic"]
    # the words of an entry must follow one another
    assert rules.expand(["chief", "execut", "offic"]) == ["ceo", "chief", "execut", "offic"]
    assert rules.expand(["chief", "offic"]) == ["chief", "offic"]


def test_the_longest_entry_wins_and_lines_add_up(synonyms):
    rules = synonyms("fuel => petrol\nfuel pump => pump\nfuel => diesel, petrol\n")
    assert rules.expand(["fuel"]) == ["petrol", "diesel"]
    assert rules.expand(["fuel", "pump", "fuel"]) == ["pump", "petrol", "diesel"]


def test_a_backslash_keeps_marks_from_their_meaning_and_chinese_entries_are_terms_in_turn(synonyms):
    assert synonyms(r"1\,000 => thousand").expand(["1,000"]) == ["thousand"]
    assert synonyms("净利润, 纯利").expand(["净利", "利润"]) == ["净利", "利润", "纯利"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a, car => vehicle", "line 1: 'a' has no terms once it is analysed"),
        ("\ncar => ", "line 2: '' has no terms"),
        ("car => auto => vehicle", "line 1: more than one =>"),
    ],
)
def test_a_line_that_makes_no_rule_is_named(synonyms, text, message):
    with pytest.raises(ConfigError, match=message):
        synonyms(text)


@pytest.mark.parametrize("key", ["synonyms", "user_dictionary"])
def test_a_file_of_words_is_read_with_the_configuration(key, tmp_path):
    with pytest.raises(ValueError, match=rf"{key}: .*none\.txt: cannot be read \(No such file"):
        Bm25Config(analyser="jieba", **{key: tmp_path / "none.txt"})
    path = tmp_path / "words.txt"
    path.write_text("\ufeffcar => auto\n", encoding="utf-8")
    config = Bm25Config(analyser="jieba", **{key: path})
    path.unlink()
    # a step does not look for it again
    assert (config._synonyms or config._dictionary) == "car => auto\n"
    assert Bm25Config()._synonyms == Bm25Config()._dictionary == ""
