"""The values that a question names: years and ranges of them, names however they are written."""

import pytest

from harness.steps.search.filter.names import Names, years_in


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("the FY2018 capital expenditure", [2018]),
        ("FY 2022, fiscal 2019 and fiscal year 2016", [2016, 2019, 2022]),
        ("FY97", [1997]),
        ("As of Q2'2023, or in 4Q21", [2021, 2023]),
        ("2023Q2", [2023]),
        ("2018 to 2020", [2018, 2019, 2020]),
        ("FY2017 - FY2019 3 year average", [2017, 2018, 2019]),
        ("2018–20", [2018, 2019, 2020]),
        ("2018/19", [2018, 2019]),
        ("between 2018 and 2020", [2018, 2019, 2020]),
        ("between Q2 of FY2022 and Q2 of FY2024", [2022, 2023, 2024]),
        ("2020 to 2018", [2018, 2020]),
        ("2018年至2020年的收入", [2018, 2019, 2020]),
        ("on 2019-12-31.", [2019]),
        ("fy2018, q2'21, ２０２０年", [2018, 2020, 2021]),
        ("in 2019's report, p. 3", [2019]),
        ("$2021 million, $ 2021, 2,021 cars, 2021.5, 2020%, 2021 %, 20201 and 1577", []),
    ],
)
def test_years_and_ranges_are_read_as_numbers(text, years):
    assert list(years_in(text)) == years


NAMES = Names.of(
    [
        ("JPMorgan", "JPMorgan"),
        ("Johnson & Johnson", "Johnson & Johnson"),
        ("JnJ", "Johnson & Johnson"),
        ("10-K", "10-K"),
        ("US", "United States"),
        ("Pfizer", "Pfizer"),
        ("Pfizer Japan", "Pfizer Japan"),
        ("Nestlé", "Nestlé"),
        ("华为", "华为"),
        ("3M", "3M"),
        ("Delta", "Delta Air Lines"),
        ("Delta", "Delta Electronics"),
    ]
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Which of JP Morgan's segments", ["JPMorgan"]),
        ("JPMORGAN and 3m", ["JPMorgan", "3M"]),
        ("Johnson and Johnson's 10K", ["Johnson & Johnson", "10-K"]),
        ("JnJ, that is Johnson & Johnson", ["Johnson & Johnson"]),
        ("tell us of sales in the US", ["United States"]),
        ("Pfizer without Pfizer Japan", ["Pfizer", "Pfizer Japan"]),
        ("NESTLE", ["Nestlé"]),
        ("请问华为的收入", ["华为"]),
        ("33M or Pfizers", []),
        ("Delta", ["Delta Air Lines", "Delta Electronics"]),
    ],
)
def test_a_name_is_found_however_it_is_written_and_in_whole_words(text, found):
    assert list(NAMES.found_in(text)) == found


def test_no_names_find_nothing():
    assert Names.of([("&", "and"), ("…", "dots")]).found_in("…") == ()
    assert Names.of([]).found_in("3M") == ()
