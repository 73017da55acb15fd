"""RGB's files (Chen et al., AAAI 2024) as a corpus folder: passages, questions, golden and false answers.

Its licence is CC BY-NC-SA 4.0: for evaluation, not to be passed on with works of another licence.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from harness.data.corpus.importers.beir import ImportSummary, new_corpus_folder, write_text
from harness.data.corpus.input_table import read_jsonl, read_table
from harness.data.corpus.inputs import input_table, rows_of
from harness.values import MAX_GRADE, Column, CorpusError, counted, delimited_text, id_of_query

Parts = tuple[tuple[str, ...], ...]
_ENDINGS = (".json", ".jsonl")
_README = Path(__file__).parent / "assets" / "rgb.md"


def _nested(cell: str) -> Parts:
    """A JSON list of texts, or of lists of texts, as lists; a bare text is one list of one."""
    try:
        items = json.loads(cell) if cell.lstrip().startswith("[") else [cell]
    except (ValueError, RecursionError):
        items = [cell]
    lists = [item if isinstance(item, list) else [item] for item in items]
    if not all(isinstance(text, str) for item in lists for text in item):
        raise ValueError(f"is {cell[:60]!r}. It is a text, a list of texts, or a list of such lists.")
    return tuple(tuple(text.strip() for text in item if text.strip()) for item in lists)


def _parts(cell: str) -> Parts:
    """The parts of an answer: of a list each item is one, with its wordings where it is a list itself."""
    parts = _nested(cell)
    if not parts or not all(parts):
        raise ValueError("is empty, or has an empty part. Fill it.")
    return parts


def _passages(cell: str) -> Parts:
    """Passages by sub-question; one group where the list has no lists in it."""
    groups = _nested(cell)
    nested = cell.lstrip().startswith("[") and cell.lstrip()[1:].lstrip().startswith("[")
    return groups if nested else (tuple(text for group in groups for text in group),)


@input_table("RGB", "an instance of RGB", CorpusError, key=("instance",))
@dataclass(frozen=True, slots=True)
class RgbInstance:
    """A question with passages that hold its answer (``positive``) and that do not (``negative``).

    ``answer`` is a text, a list of parts, or a list of lists of wordings. ``positive`` has a list for each
    sub-question where there are several. ``fakeanswer`` is what the answer becomes in ``positive_wrong``.
    """

    instance: Annotated[str, Column("its number", header="id", read=id_of_query)]
    query: Annotated[str, Column("the question", filled=True)]
    answer: Annotated[Parts, Column("the golden answer", read=_parts)] = ()
    positive: Annotated[Parts, Column("passages that hold the answer", read=_passages)] = ()
    negative: Annotated[Parts, Column("passages that do not", read=_passages)] = ()
    positive_wrong: Annotated[Parts, Column("positive passages with a false fact", read=_passages)] = ()
    fakeanswer: Annotated[Parts, Column("the false fact", read=_nested)] = ()

    @property
    def ability(self) -> str:
        """What it tests: its fields say so."""
        if len(self.positive) > 1:
            return "integration"
        return "counterfactual" if any(self.positive_wrong) or self.fakeanswer else "noise"

    @property
    def golden(self) -> str:
        """The cell of the golden answer: several parts as a list of lists."""
        if len(self.answer) > 1:
            return json.dumps(self.answer, ensure_ascii=False)
        (wordings,) = self.answer
        return wordings[0] if len(wordings) == 1 else json.dumps(wordings, ensure_ascii=False)

    @property
    def false_answer(self) -> str:
        """The cell of the false answer; '' where it has not as many parts as the golden one."""
        texts = [part[0] for part in self.fakeanswer if part]
        if len(self.answer) == 1:
            return ", ".join(texts)
        return json.dumps(texts, ensure_ascii=False) if len(texts) == len(self.answer) else ""


def import_rgb(source: Path, target: Path) -> ImportSummary:
    """Turn a file of RGB, or all in a folder, into a corpus folder with one document for each passage.

    Positive passages are labelled with the highest grade, those of one sub-question as copies of one fact;
    negative ones with 0. Raises CorpusError that names the lines at fault.
    """
    files = _files(source)
    queries: list[tuple[str, ...]] = []
    labels: list[tuple[Any, ...]] = []
    documents, notes = 0, [f"Read: {', '.join(path.name for path in files)}."]
    with new_corpus_folder(target) as folder:
        (folder / "documents").mkdir()
        for path in files:
            without_noise = 0
            for instance in _instances(path):
                name = f"{path.stem}-{instance.instance}"
                queries.append(
                    (name, instance.query, instance.ability, instance.golden, instance.false_answer)
                )
                texts: set[str] = set()
                for kind, text, grade, evidence in _texts(instance):
                    if text in texts:
                        continue
                    texts.add(text)
                    document = f"{name}-{kind}{len(texts)}"
                    write_text(folder / "documents" / f"{document}.txt", text)
                    labels.append((name, document, 0, len(text), grade, evidence))
                documents += len(texts)
                without_noise += not any(instance.negative)
            if without_noise:
                notes.append(f"{path.name}: {counted(without_noise, 'instance')} without a negative passage.")
        columns = ("query_id", "text", "type", "answer", "false_answer")
        write_text(folder / "queries.csv", delimited_text([columns, *queries]))
        names = ("query_id", "document", "start", "end", "grade", "evidence")
        write_text(folder / "labels.csv", delimited_text([names, *labels]))
        readme = _README.read_text(encoding="utf-8")
        write_text(folder / "README.md", readme.format(name=target.name, source=", ".join(map(str, files))))
    return ImportSummary(target, documents, len(queries), len(labels), tuple(notes))


def _files(source: Path) -> list[Path]:
    if not source.is_dir():
        if not source.exists():
            raise CorpusError(f"{source}: there is no such file. Name a file of RGB, such as en_fact.json.")
        return [source]
    files = sorted(path for path in source.iterdir() if path.suffix.lower() in _ENDINGS)
    if not files:
        raise CorpusError(f"{source}: there is no .json or .jsonl file. Name the folder with RGB's files.")
    return files


def _instances(path: Path) -> Sequence[RgbInstance]:
    """The instances of a file: one object a line, whatever its ending."""

    def fault(row: RgbInstance) -> str:
        absent = [name for name in ("answer", "positive") if not any(getattr(row, name))]
        return f"has no {' and no '.join(absent)}. Take a file as RGB has it." if absent else ""

    needed = ("id", "query")
    table = read_table(path, needed, CorpusError, more={".json": lambda path: read_jsonl(path, needed)})
    return rows_of(table, RgbInstance, fault)


def _texts(instance: RgbInstance) -> Iterator[tuple[str, str, int, str]]:
    """The passages of an instance: kind, text, grade and the name of the fact that they state."""
    several = len(instance.positive) > 1
    for part, group in enumerate(instance.positive, start=1):
        for text in _clean(group):
            yield "p", text, MAX_GRADE, f"part {part}" if several else "answer"
    for group in instance.negative:
        for text in _clean(group):
            yield "n", text, 0, ""


def _clean(texts: Iterable[str]) -> Iterator[str]:
    """Passages with the line ends of text files; web text has carriage returns."""
    for text in texts:
        yield text.replace("\r\n", "\n").replace("\r", "\n")
