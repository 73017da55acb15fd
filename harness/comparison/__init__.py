"""Compare settings by query: which is best, by how much, is it real, where is quality lost.

Everything starts from a ``ScoreMatrix``, settings × queries of one measure. ``stored`` reads it from folders
of results, of rankings and answers alike; ``paired`` compares its rows in one ``joint_test``; ``scores`` and
``conclusions`` come to the ``verdict``; ``words`` and ``tables`` show it. docs/statistics.md says which
method is used for what, and how well it keeps its promises.
"""

from typing import TYPE_CHECKING

from harness.door import door

if TYPE_CHECKING:
    from harness.comparison.caveats import filter_table, warnings_of
    from harness.comparison.conclusions import conclude
    from harness.comparison.design import design_in, routes_in_words
    from harness.comparison.factors import label_parts
    from harness.comparison.gating import gate, github_annotations, junit
    from harness.comparison.glance import glance_json, glance_lines
    from harness.comparison.glance_svg import svg_of
    from harness.comparison.matrix import ScoredOn, ScoreMatrix, from_rows, join, names_of
    from harness.comparison.paired import Comparison, Options, compare_changes, mean_of, reranked
    from harness.comparison.scores import (
        Scores,
        chunkings_of,
        headline_of,
        loss_measure,
        options_of,
        refuse_no_quality,
        verdict_of,
    )
    from harness.comparison.sentences import finding_words, gate_sentence, sentence
    from harness.comparison.stats import Interval, bootstrap, guarded_pair, jackknife
    from harness.comparison.stored import (
        Stored,
        answer_lines,
        answers_to_take,
        brief_verdict,
        common_answer_measure,
        measure_to_take,
        read_stored,
        scores_of,
        verdict_on,
    )
    from harness.comparison.tables import (
        changed_table,
        compared_parts,
        cut_differently,
        names_table,
        reranked_table,
    )
    from harness.comparison.verdict import ENOUGH_READ, LABELS, Costs, Grounds, Holes, Trust, Verdict
    from harness.comparison.words import sentences_of, verdict_json, warning_lines
else:
    __getattr__ = door(__name__, __file__)
