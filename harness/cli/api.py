"""The harness from Python: what the commands do, in a notebook or a script.

Everything here is also reached as ``harness.run``, ``harness.read_results`` and so on; heavy libraries are
imported when they are used.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from html import escape
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from harness import comparison, data, measures, report, running
from harness.values import LARGEST, ConfigError, HarnessError, Reporter, Silent

if TYPE_CHECKING:
    import pandas as pd


# Libraries that are loaded in a notebook without ipywidgets say so; their bars are not used here.
warnings.filterwarnings("ignore", message="IProgress not found")

Folder = Path | str
MEASURES = ("ndcg_exp@10", "ndcg_lin@10", "recall@10", "mrr", "judged@10")


def load_config(config: Folder | Mapping[str, Any]) -> running.BenchConfig:
    """Read and check a configuration, a file or a dict of its keys; raises ConfigError with key and remedy.

    Paths in it are relative to the working folder.

    >>> config = harness.load_config("bench.yaml")
    >>> [setting.name for setting in config.settings]
    ['chunk=90/0', 'chunk=180/0']
    """
    if isinstance(config, Mapping):
        return running.load_config(config)
    if not isinstance(config, str | Path):
        raise ConfigError(
            f"A configuration is the path of a YAML file or a dict of its keys, not {type(config).__name__}."
        )
    return running.load_config(Path(config))


def run(
    config: running.BenchConfig | Folder | Mapping[str, Any],
    progress: bool = False,
    reporter: Reporter | None = None,
    again: bool = False,
) -> Results:
    """Run a benchmark as ``harness bench`` does, report.html included, and return its results.

    Where nothing has changed since its results were written, these are returned immediately; ``again`` runs
    it anyway. ``config`` is a file, a dict of the keys of one, or what ``load_config`` returns. ``progress``
    shows bars and warnings, also in a notebook; a ``reporter`` of your own receives them instead. Raises
    HarnessError with what to do about it.

    >>> results = harness.run("bench.yaml")
    >>> means = results.summary.query("split == 'all' and measure == 'ndcg_exp@10'")
    >>> means.set_index("setting")["mean"].round(2).to_dict()
    {'chunk=90/0': 0.91, 'chunk=180/0': 1.0}
    """
    read = config if isinstance(config, running.BenchConfig) else load_config(config)
    if reporter is None and progress:
        from harness.cli.notebook import progress_shown

        reporter = progress_shown()
    return Results(running.run_or_reuse(read, reporter or Silent(), again=again).folder)


def read_results(folder: Folder) -> Results:
    """The results in a folder such as ``results/quickstart``; raises HarnessError if there are none.

    >>> results = harness.read_results("results/tiny")
    >>> results.table("queries")["query_id"].tolist()
    ['q1', 'q2', 'q3', 'q4', 'q5']
    """
    results = Results(_folder(folder))
    _ = results.record
    return results


@dataclass(frozen=True)
class Results:
    """A folder of results. Tables are read when they are first used; docs/results.md describes them."""

    folder: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", Path(self.folder))

    @cached_property
    def record(self) -> dict[str, Any]:
        """record.json: configuration, versions, models, hashes, counts."""
        return report.read_result(self.folder).record

    @cached_property
    def summary(self) -> pd.DataFrame:
        """Means by setting, stage, split and measure, with intervals."""
        return self.table("summary")

    @cached_property
    def per_query(self) -> pd.DataFrame:
        """Every value of every query."""
        return self.table("per_query")

    def table(self, name: str) -> pd.DataFrame:
        """A table by its name, such as ``rankings``, with typed columns; raises HarnessError for none."""
        return report.read_table(self.folder, name)

    @cached_property
    def verdict(self) -> Comparison:
        """Which setting is best by the headline, by how much, whether it is real; printed, it is in words."""
        return self.compare()

    def compare(self, measure: str | None = None, baseline: str | None = None) -> Comparison:
        """Which setting is best, by how much, and whether that is real; by default by the headline."""
        return compare(self, measure=measure, baseline=baseline)

    def report(self, output: Folder | None = None) -> Path:
        """Build report.html again, by default in the folder of the results; returns where it is."""
        return running.write_page(self.folder, None if output is None else Path(output))[0]

    def __str__(self) -> str:
        try:
            return str(self.compare())
        except HarnessError as error:
            return f"There is no verdict: {error}"

    def _repr_html_(self) -> str:
        """The picture of the verdict, in a notebook; where there is none, the reason."""
        try:
            return comparison.svg_of(comparison.verdict_on(self.folder))
        except HarnessError:
            return escape(str(self))


@dataclass(frozen=True)
class Comparison:
    """A verdict, in words (``str``), as plain values (``as_dict``) and difference by difference."""

    verdict: comparison.Verdict = field(repr=False)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The verdict in words: decision, margin, test, what it holds for, caveats, next step."""
        return tuple(comparison.sentences_of(self.verdict))

    @property
    def differences(self) -> pd.DataFrame:
        """One row per pair of settings: the mean difference, its interval, its corrected p."""
        import pandas as pd

        return pd.DataFrame([asdict(row) for row in self.verdict.comparisons])

    def as_dict(self) -> dict[str, Any]:
        """As verdict.json has it."""
        return dict(comparison.verdict_json(self.verdict))

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def _repr_html_(self) -> str:
        """The picture of the verdict, in a notebook."""
        return comparison.svg_of(self.verdict)


def compare(
    *results: Results | Folder, measure: str | None = None, baseline: str | None = None, stage: str = "final"
) -> Comparison:
    """Compare the settings of one or several results query by query, as ``harness compare`` does.

    Raises HarnessError if they were not scored on the same queries and the same judged text, ConfigError
    for an unknown measure, setting or stage.

    >>> comparison = harness.compare("results/tiny", measure="ndcg_exp@10")
    >>> comparison.differences[["setting", "against", "difference"]].round(2).values.tolist()
    [['chunk=180/0', 'chunk=90/0', 0.09]]
    """
    folders = [_folder(result) for result in results]
    names = comparison.names_of(folders)
    stored, taken = running.read_to_compare(folders, stage, None if measure is None else str(measure))
    named = {name: stored[folder] for name, folder in zip(names, folders, strict=True)}
    return Comparison(comparison.verdict_of(comparison.scores_of(named, taken), baseline=baseline))


def _folder(source: Any) -> Path:
    if isinstance(source, Results):
        return source.folder
    if isinstance(source, str | Path):
        return Path(source)
    raise ConfigError(
        f"Name results by their folder, or give what run returned, not {type(source).__name__}."
    )


def score(
    run: Any, qrels: Any, measures: Sequence[str] = MEASURES, convention: str = "harness"
) -> pd.DataFrame:
    """The values of every judged query, one row each; ``.mean()`` of it are the means.

    ``run`` and ``qrels`` are dictionaries (``{query: {document: score}}``, ``{query: {document: grade}}``),
    DataFrames (query_id, doc_id, score, possibly rank; grade), or files in any format that ``harness score``
    reads. ``measures`` is a list, or one name. ``convention`` names whose rules hold; docs/conventions.md
    explains them. NaN if a measure is undefined. Raises ValueError for an unknown measure or convention,
    TrecError for bad data.

    >>> run = {"q1": {"d1": 2.0, "d2": 1.0}}
    >>> qrels = {"q1": {"d2": 3, "d3": 0}}
    >>> harness.score(run, qrels, ["ndcg_exp@10", "mrr"]).round(2)
              ndcg_exp@10  mrr
    query_id
    q1               0.63  0.5
    """
    import pandas as pd

    measures = (measures,) if isinstance(measures, str) else tuple(map(str, measures or MEASURES))
    _check_source("run", run, "score")
    _check_source("qrels", qrels, "grade")
    if isinstance(run, Mapping) and isinstance(qrels, Mapping):
        data.refuse_strangers(run, qrels)
        data.refuse_unlike_ids(run, qrels)
        scores = data.evaluate_dicts(run, qrels, measures, convention)
    else:
        ranked = _source(run, data.run_from_dict, data.run_from_frame, data.read_run)
        judged = _source(qrels, data.qrels_from_dict, data.qrels_from_frame, data.read_qrels)
        data.refuse_strangers(ranked.query_ids, judged.query_ids)
        scores = data.evaluate(ranked, judged, measures, convention)
    names = [measure.name for measure in scores.measures]
    return pd.DataFrame(
        scores.values, columns=names, index=pd.Index(scores.query_ids, name="query_id", tupleize_cols=False)
    )


def _check_source(name: str, source: Any, value: str) -> None:
    """Raise TrecError for what can be no rankings or judgments; what is in them is checked as it is read."""
    import pandas as pd

    if isinstance(source, Mapping):
        wrong = [query for query, documents in source.items() if not isinstance(documents, Mapping)]
        if wrong:
            raise data.TrecError(f"{name}: query {wrong[0]} needs a dict: {{document: {value}}}.")
    elif not isinstance(source, str | Path | pd.DataFrame):
        raise data.TrecError(f"{name} is a dict, a DataFrame or a file, not {type(source).__name__}.")


def _source(source: Any, from_dict: Any, from_frame: Any, read: Any) -> Any:
    if isinstance(source, Mapping):
        return from_dict(source)
    return read(Path(source)) if isinstance(source, str | Path) else from_frame(source)


def ndcg(
    ranked: Sequence[int], judged: Sequence[int], k: int | None = 10, gain: Literal["exp", "lin"] = "exp"
) -> float:
    """NDCG@k of one ranking: its grades in rank order, and the grades of *all* that was judged.

    The ideal is the best k of ``judged``, not of what was retrieved; unjudged text has grade 0 in ``ranked``.
    ``gain`` is 2^g - 1 or g itself; the discount log2(rank + 1). NaN if nothing judged is relevant. Raises
    ValueError for a grade that is negative or a fraction, a k below 1, and a grade of ``ranked`` that
    ``judged`` lacks.
    Source: Järvelin and Kekäläinen, TOIS 2002; Burges et al., ICML 2005.

    >>> round(harness.ndcg(ranked=[3, 0, 2], judged=[3, 2, 2, 0], k=3), 3)
    0.818
    """
    if gain not in ("exp", "lin"):
        raise ValueError(f"gain is {gain!r}; it can be exp or lin")
    if k is not None and not (isinstance(k, Real) and k >= 1 and k % 1 == 0):
        raise ValueError(f"k is {k}: give a rank from 1, or None for all")
    ranked_grades, ideal = _grades("ranked", ranked), np.sort(_grades("judged", judged))[::-1]
    if lacking := Counter(ranked_grades[ranked_grades > 0].tolist()) - Counter(ideal.tolist()):
        raise ValueError(
            f"ranked has grade {max(lacking)} more often than judged: judged has the grades of all that was "
            "judged, retrieved or not"
        )
    worth = measures.gain_exp if gain == "exp" else measures.gain_lin
    depth = None if k is None else int(min(k, 1 + len(ranked_grades) + len(ideal)))
    best, value = (
        float(measures.dcg(grades, np.array([0, len(grades)]), depth, worth)[0])
        for grades in (ideal, ranked_grades)
    )
    return value / best if best > 0 else float("nan")


def _grades(name: str, values: Sequence[int]) -> measures.Ints:
    try:
        grades = np.array(list(values), dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} has an entry that is no grade: grades are integers from 0") from None
    if grades.ndim != 1 or (grades % 1 != 0).any():
        raise ValueError(f"a grade of {name} is not a whole number: grades are integers from 0")
    if (grades < 0).any() or (grades > LARGEST).any():
        raise ValueError(f"a grade of {name} is below 0 or too large: grades are integers from 0")
    return grades.astype(np.int64)
