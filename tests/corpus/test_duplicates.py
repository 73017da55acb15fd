"""Text that is in several places is one evidence: which places count, and which are left alone."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.data import credit_duplicates
from harness.values import Judgment
from tests.corpus.conftest import text_document as document

FACT = "Total revenues in 2023 came to 96,773 million dollars."


def label(documents, doc_id, text, grade=4, query="q", evidence="", nth=0):
    at = -1
    for _ in range(nth + 1):
        at = documents[doc_id].text.index(text, at + 1)
    return Judgment(query, doc_id, at, at + len(text), grade, evidence)


def library(**texts):
    return {name: document(name, text) for name, text in texts.items()}


def texts_of(found, documents):
    return [(j.doc_id, documents[j.doc_id].text[j.start : j.end], j.evidence) for j in found.judgments]


def test_the_same_words_elsewhere_are_the_same_evidence_whatever_the_white_space():
    documents = library(
        a=f"Intro. {FACT} Outro.",
        b="Summary.\nTotal revenues in\n2023 came to\t96,773 million  dollars. More.",
        c="Total revenues in 2022 came to 81,462 million dollars.",
    )
    found = credit_duplicates([label(documents, "a", FACT)], documents, 30)
    assert (found.added, found.repeated, found.joined) == (1, 1, 0)
    (own, name), (copied, copied_name) = ((j.doc_id, j.evidence) for j in found.judgments)
    assert (own, copied) == ("a", "b")
    assert name == copied_name != ""
    copy = found.judgments[1]
    assert documents["b"].text[copy.start : copy.end].split() == FACT.split()
    assert (copy.grade, copy.query_id) == (4, "q")


def test_a_label_that_occurs_once_is_left_as_it_was():
    documents = library(a=f"Intro. {FACT}", b="Nothing of the kind.")
    labels = [label(documents, "a", FACT)]
    assert credit_duplicates(labels, documents, 30).judgments == tuple(labels)


@pytest.mark.parametrize(("grade", "least", "added"), [(4, 30, 1), (1, 30, 1), (0, 30, 0), (4, 60, 0)])
def test_only_relevant_labels_that_are_long_enough_have_duplicates(grade, least, added):
    documents = library(a=f"x {FACT}", b=f"y {FACT}")
    assert credit_duplicates([label(documents, "a", FACT, grade)], documents, least).added == added


def test_a_place_that_has_a_label_of_the_query_is_left_to_people():
    documents = library(a=f"x {FACT}", b=f"y {FACT}", c=f"z {FACT}")
    labels = [label(documents, "a", FACT), label(documents, "b", "revenues in 2023", grade=0)]
    found = credit_duplicates(labels, documents, 30)
    assert [j.doc_id for j in found.judgments] == ["a", "b", "c"]
    # the label of another query does not bind this one
    other = [labels[0], label(documents, "b", "revenues in 2023", grade=0, query="p")]
    assert credit_duplicates(other, documents, 30).added == 2


def test_equal_texts_that_were_labelled_apart_become_one_evidence_unless_their_grades_differ():
    documents = library(a=f"x {FACT}", b=f"y {FACT}")
    found = credit_duplicates([label(documents, "a", FACT), label(documents, "b", FACT)], documents, 30)
    assert (found.added, found.joined) == (0, 2)
    assert len({j.evidence for j in found.judgments}) == 1
    apart = [label(documents, "a", FACT), label(documents, "b", FACT, grade=2)]
    assert credit_duplicates(apart, documents, 30).judgments == tuple(apart)


def test_names_that_people_gave_are_kept():
    documents = library(a=f"x {FACT}", b=f"y {FACT}", c=f"z {FACT}")
    labels = [label(documents, "a", FACT, evidence="revenue"), label(documents, "b", FACT)]
    found = credit_duplicates(labels, documents, 30)
    assert [j.evidence for j in found.judgments] == ["revenue"] * 3
    two = [label(documents, "a", FACT, evidence="one"), label(documents, "b", FACT, evidence="two")]
    assert [j.evidence for j in credit_duplicates(two, documents, 30).judgments][:2] == ["one", "two"]


def test_a_label_of_a_whole_document_does_not_reach_into_others():
    documents = library(a=FACT, b=f"y {FACT}")
    assert credit_duplicates([label(documents, "a", FACT)], documents, 30).added == 0


@given(
    st.lists(st.text(alphabet="ab \n中\u3000", max_size=30), min_size=1, max_size=4),
    st.integers(1, 6),
    st.data(),
)
def test_every_place_holds_the_words_of_the_label_and_none_is_missed(texts, least, data):
    """Against a verbatim search of the text without white space."""
    documents = {f"d{i}": document(f"d{i}", text) for i, text in enumerate(texts)}
    source = data.draw(st.sampled_from(sorted(name for name in documents if documents[name].text) or ["d0"]))
    text = documents[source].text
    if not text:
        return
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    squeezed = "".join(text[start:end].split())
    found = credit_duplicates([Judgment("q", source, start, end, 2)], documents, least)
    for judgment in found.judgments[1:]:
        words = documents[judgment.doc_id].text[judgment.start : judgment.end]
        assert "".join(words.split()) == squeezed
    spans = sorted((j.doc_id, j.start, j.end) for j in found.judgments)
    assert all(a[0] != b[0] or a[2] <= b[1] for a, b in itertools.pairwise(spans))
    whole = len(squeezed) < least or squeezed == "".join(text.split())
    if not whole:
        # a place that no span overlaps holds the text nowhere
        for name, other in documents.items():
            covered = list(other.text)
            for judgment in found.judgments:
                if judgment.doc_id == name:
                    covered[judgment.start : judgment.end] = "#" * (judgment.end - judgment.start)
            assert squeezed not in "".join("".join(covered).split())
