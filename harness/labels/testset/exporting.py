"""The step ``export``: questions, labels, answers, a datasheet, and a benchmark that runs as it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from shlex import quote

from harness.labels.scaffold.config_text import Paths, bench_text, name_of
from harness.labels.scaffold.folder_summary import TextFacts
from harness.labels.testset.datasheet import datasheet
from harness.labels.testset.finished import assemble
from harness.labels.testset.formats import FORMATS
from harness.labels.testset.formats.tables import tables_of
from harness.labels.testset.merging import MergedLabels, merge
from harness.labels.testset.rows import GradeRow, to_csv
from harness.labels.testset.state import EXPORT, SetState
from harness.labels.testset.steps import Outcome, documents_of
from harness.running import Context
from harness.values import ConfigError, Document, counted

# The labels of the last export; differences from it are edits by people.
_WRITTEN = f"{EXPORT}/.labels.csv"


def export(state: SetState, context: Context) -> Outcome:
    """Write export/: queries.csv, labels.csv (merged), grades.csv (of each grader), datasheet.md, bench.yaml.

    Edits of people to labels.csv since the last export are kept: rows added, edited or removed. Raises
    ConfigError if the test set has changed the same rows.
    """
    documents = documents_of(state, context)
    testset = assemble(state, documents)
    folder = state.folder / EXPORT
    bench = folder / "bench.yaml"
    tables = tables_of(testset.questions, testset.labels)
    asked = {one.query_id for one in testset.questions}
    merged = merge(folder / "labels.csv", state.folder / _WRITTEN, tables["labels.csv"], asked)
    files: dict[str, str | Callable[[], str]] = {
        f"{EXPORT}/queries.csv": tables["queries.csv"],
        f"{EXPORT}/labels.csv": merged.text,
        _WRITTEN: tables["labels.csv"],
        f"{EXPORT}/grades.csv": to_csv(GradeRow, state.rows(GradeRow)),
    }
    kept = bench.exists()
    if not kept:
        files[f"{EXPORT}/bench.yaml"] = _bench(state, list(documents.values()))
    # made last, as it lists this step too
    files[f"{EXPORT}/datasheet.md"] = lambda: datasheet(state, testset)
    facts = {"questions": len(testset.questions), "labels": len(testset.labels)}
    state.write("export", "queries, labels, answers, datasheet", {}, facts, files)
    lines = [
        f"{folder}/: {counted(len(testset.questions), 'question')}, {counted(len(testset.labels), 'label')}, "
        f"{counted(sum(bool(one.answer) for one in testset.questions), 'answer')}; datasheet.md says how "
        "they came about."
    ]
    lines += _summary(merged)
    if kept:
        lines.append(f"{bench} was there and stays as it is.")
    if testset.unresolved:
        lines.append(
            f"{counted(testset.unresolved, 'passage is', 'passages are')} left unjudged: people disagree on "
            "them."
        )
    lines += [f"To look at: {one}." for one in testset.contradictions[:5]]
    if len(testset.contradictions) > 5:
        lines.append(f"… and {len(testset.contradictions) - 5} more, in datasheet.md.")
    return Outcome(tuple(lines), next=(f"harness bench {quote(str(bench))}",))


def _summary(merged: MergedLabels) -> list[str]:
    """The edits of people to labels.csv since the last export."""
    parts = [
        f"{count} {what}"
        for count, what in ((merged.added, "added"), (merged.edited, "edited"), (merged.removed, "taken out"))
        if count
    ]
    lines = [f"labels.csv keeps what people did to it: {', '.join(parts)}."] if parts else []
    if merged.gone:
        lines.append(
            f"{counted(merged.gone, 'label')} of questions that are no longer in the test set left out; the "
            "former file is in history/."
        )
    return lines


def export_as(state: SetState, context: Context, name: str, to: Path | None) -> Outcome:
    """Write the test set in the format of another tool, into a new folder."""
    if name not in FORMATS:
        raise ConfigError(f"There is no format {name!r}. Known: {', '.join(FORMATS)}.")
    documents = documents_of(state, context)
    testset = assemble(state, documents)
    folder = to or state.folder / EXPORT / name
    if folder.exists() and any(folder.iterdir()):
        raise ConfigError(f"{folder} exists already. Remove it, or name another folder with --to.")
    written = FORMATS[name].write(testset, documents, folder)
    lines = [f"{folder}/: {', '.join(written.files)}."]
    lines += [f"  {note}" for note in written.notes]
    return Outcome(tuple(lines), next=())


def _bench(state: SetState, documents: Sequence[Document]) -> str:
    facts = TextFacts.of([one.text for one in documents])
    config, folder = state.config, state.folder / EXPORT
    paths = Paths(name_of(state.folder), config.documents, folder, str(config.cache), str(config.results))
    return bench_text(facts, paths, download=config.embed is not None)
