"""The names in a question, by rules: docs/rewriting.md shows these."""

import re
from pathlib import Path

from harness.steps.search.rewrite.entities import names_in

PAGE = (Path(__file__).parent.parent.parent / "docs" / "rewriting.md").read_text(encoding="utf-8")
CASES = {
    "What was the FY2018 capital expenditure of 3M?": ["FY2018", "3M"],
    "Why did Bank of America buy Merrill Lynch & Co.?": ["Bank of America", "Merrill Lynch & Co"],
    "We look at AMD. What are its segments? Use the filing.": ["AMD"],
    "Is Johnson & Johnson's U.S. GAAP loss above 12 %?": ["Johnson & Johnson", "U.S. GAAP", "12 %"],
    "How much did revenue grow, from $1.2 million to 4,200?": ["$1.2 million", "4,200"],
    'Who said "never again" in Berlin?': ["never again", "Berlin"],
    "Does Meridian, or Voss, pay for IT in the US?": ["Meridian", "Voss", "IT", "US"],
    "In 2024, which plant did Meridian's rival close?": ["2024", "Meridian"],
    "what happens if workers stop turning up": [],
    "《静夜思》的作者是谁？": ["静夜思"],
    "2023年腾讯控股有限公司的净利润是多少亿元？": ["2023年", "腾讯控股有限公司"],
    "比亚迪在深圳市的工厂有多少台GPU？": ["深圳市", "GPU"],
    "李白的朋友是谁？": [],
    "2024年末公司有多少员工？": ["2024年末"],
    "临汐基地2025年第二季度的产量是多少？": ["临汐基地", "2025年第二季度"],
    "2022年一季度中国和美国的经济增长率是多少？": ["2022年一季度", "中国", "美国"],
    "中国2019年人口出生率": ["中国", "2019年"],
    "北京冬奥会美国分别获得多少金牌？": ["北京冬奥会", "美国"],
    "2019年军运会在中国哪个城市举办": ["2019年", "军运会", "中国"],
    "第七届香港立法会议员宣誓时间": ["第七届", "香港立法会"],
    "小米MIX2的iPhone SE 3": ["MIX2", "iPhone SE 3"],
    "2018-2019赛季J-20": ["2018-2019", "J-20"],
    "神舟十一号由哪家公司的子公司制造？": ["神舟十一号"],
    "世界杯的举办国有多少个成员国？": ["世界杯"],
    "日本の首都はどこですか？": ["日本"],
    "2023년 삼성전자 매출은 얼마입니까?": ["2023년"],
    "": [],
}


def test_names_in_the_order_in_which_they_occur():
    assert {question: names_in(question) for question in CASES} == CASES


def test_the_examples_of_the_page():
    shown = re.findall(r"^(.+?) →(.*)$", PAGE, re.MULTILINE)
    assert len(shown) == 7
    assert [" ".join(names_in(question)) for question, _ in shown] == [asked.strip() for _, asked in shown]
