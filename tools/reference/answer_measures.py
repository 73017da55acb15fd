"""docs/answer-measures.md, written from the table of measures of answers."""

from __future__ import annotations

from typing import Any, get_args

from pydantic_core import PydanticUndefined

from harness.measures.answer.answer_calls import LISTS, STEPS, Language, prompt_of
from harness.measures.answer.answer_measure import AnswerMeasure
from harness.measures.answer.llm_measure import LlmMeasure
from harness.measures.answer.measures import ANSWER_MEASURES

_INTRO = """\
# Measures of answers

Each measure scores one answered question: the question, the passages that were read, the answer, and if known
the golden answer and the labelled evidence. The table says what each needs; its entry below has the formula,
which gives 0 to 1 unless a range is stated.

- **A question without a value** has a reason instead, and is counted; means are over the others. It is
  *undefined* if there is nothing to measure, such as citations of an answer that cites nothing. It has
  *failed* if the value is not known: the question was not answered, or the answer of the model that scores it
  cannot be read. A failure is never 0 and never left out silently.
- **Several golden answers**, of which any is right, are a JSON list in the column `answer` of the query file
  (or `reference` of a file of answers): `["14.50 crowns", "14 crowns 50"]`. `exact_match`, `token_f1`,
  `answer_similarity` and `answer_correctness` take the best, as SQuAD does; the details say which it was.
  Measures that look for the golden answer in the passages, and `noise_sensitivity`, take the first.
- **A model that scores** is asked through the [ledger](judge.md#the-ledger-nothing-is-paid-twice), within
  limits on rate and money. If its answer is not exactly one JSON object in the form that the prompt asks for
  (text around it, a missing or second verdict, a wrong number of verdicts), it is asked again
  (`answers_per_call`), and then the case is not scored.
- **It may be wrong.** `harness score-answers --human values.csv` takes the values that people gave to a
  random sample of the questions (`query_id`, `measure`, `value`) and prints how far the measure agrees with
  them, and the mean over all questions, corrected for its errors.
"""
_PARITY = """
## Compared with ragas 0.4.3

On the same answers of the model, and the same vectors, these give the values of ragas 0.4.3 to 1e-9:
`faithfulness`, `answer_relevancy`, `answer_similarity` by cosine, `answer_correctness`, `context_precision`,
`context_recall`, `context_relevance`, `aspect_critic` with one sample, `noise_sensitivity` of both kinds, and
`context_entity_recall` without the 1e-8 that ragas adds to the number of entities.
`tests/answer/test_ragas_parity.py` checks this. The entries above say where a definition differs.
These differences apply to all:

| | ragas | here |
|---|---|---|
| prompts | its own | our own, in English and Chinese, so the same model may answer differently |
| a failed call | NaN, left out of the mean (`nanmean`), which rises when the model fails on hard \
questions | counted and reported with the mean; a run with too many fails |
| an answer in another form | read leniently: the model repairs broken JSON, lists may have any length \
| asked for again, then not scored |
| passages | joined with line ends | each between its own marks, which its text cannot close |
"""
_OWN_SHAPE = """\
A prompt whose reply has names or a shape of its own says with `reply` which fields are read, as a judge's
[does](judge.md#a-prompt-of-your-own): for each of the names in the table a [JMESPath](https://jmespath.org)
expression. In a list, the expressions for a row are applied to each row; the list may be the whole reply.

```yaml
# truth.yaml, for the step attributed: [{"statement": "…", "reason": "…", "result": 1}, …]
user: |
  {{ query }} {{ passages }} {{ reference }}
  Take the reference apart, and say which parts are in the passages, as JSON:
  [{"statement": "…", "reason": "…", "result": 0 or 1}, …]
reply: {verdict: result, reason: reason}
```

For the step `statements`, `reply: {statements: "[].simpler_statements[]"}` collects the texts of
`[{"sentence_index": 0, "simpler_statements": ["…", "…"]}, …]`. For `supported`, a verdict without a `number`
is that on the `statement` which it repeats word for word, else on the one at its place. Verdicts may also be
`yes` and `no`, `true` and `false`, `是` and `否`. Such a reply is read as strictly as ours.

Reasons that a model gives, as `reason` in `reply` or as a `"reason"` that the words of the prompt ask for,
are kept in `details` of `answer_scores.csv` and shown in the report beside the verdicts.
"""
_NEEDS = {
    "answer": "the answer",
    "passages": "what was read",
    "reference": "a golden answer",
    "labels": "labelled evidence",
    "llm": "a language model",
    "vectors": "an embedding",
}


def answer_measures_reference() -> str:
    """The page: a table of all measures, each with formula, range and source, and the prompts."""
    parts = [_INTRO, "| measure | meaning | needs |", "|---|---|---|"]
    for name, kind in ANSWER_MEASURES.items():
        facts = kind.config.facts
        needs = ", ".join(words for need, words in _NEEDS.items() if need in facts.needs)
        parts.append(f"| [`{name}`](#{name}) | {facts.about} | {needs} |")
    described: dict[str, str] = {}
    for name, kind in ANSWER_MEASURES.items():
        parts += ["", f"## {name}", "", *_entry(name, kind.config, described)]
    parts += [_PARITY.rstrip(), "", *_prompts()]
    return "\n".join(parts) + "\n"


def _entry(name: str, measure: type[AnswerMeasure], described: dict[str, str]) -> list[str]:
    """What the table does not say of a measure; ``described`` has the keys of those before it."""
    facts = measure.facts
    steps = measure.steps if issubclass(measure, LlmMeasure) else ()
    bounds = "" if facts.range == "0 to 1" else facts.range
    items = {
        "Formula": facts.formula,
        "Range": "; ".join(filter(None, (bounds, "less is better" if facts.less_is_better else ""))),
        "No value": facts.undefined,
        "Asks": ", ".join(f"[`{step.name}`](#prompts)" for step in steps),
        "Keys": "; ".join(_keys(name, measure, described)),
        "Source": facts.source,
        "Compared with others": facts.compare,
    }
    return [f"- **{item}**: {text.removesuffix('.')}." for item, text in items.items() if text]


def _keys(measure_name: str, measure: type[AnswerMeasure], described: dict[str, str]) -> list[str]:
    """The keys of its own: those shared by all measures are described once, and so are equal ones of two."""
    common = {"kind", *LlmMeasure.model_fields, *AnswerMeasure.model_fields}
    keys = []
    for name, field in measure.model_fields.items():
        if name in common:
            continue
        text = f"`{name}` ({_default(field.default)}): {(field.description or '').removesuffix('.')}"
        first = described.setdefault(text, measure_name)
        keys.append(text if first == measure_name else f"`{name}`: as of [`{first}`](#{first})")
    return keys


def _default(value: Any) -> str:
    if value is PydanticUndefined:
        return "required"
    return f"{len(value)} of them" if isinstance(value, tuple) else f"default `{value}`"


def _prompts() -> list[str]:
    parts = [
        "## Prompts",
        "",
        "Every measure takes `name`, its name in the tables. A measure that asks a model takes `language` "
        "(`en` or `zh`) and `prompts`, files of your own by step: YAML with `id`, `version`, `system` and "
        "`user`, which use each slot of the step as `{{ slot }}`, and no other slots. The answer is one JSON "
        "object.",
        "",
        _OWN_SHAPE,
        "| step | slots | answer | version |",
        "|---|---|---|---|",
    ]
    for step in STEPS.values():
        slots = ", ".join(f"`{slot}`{' (several)' if slot in LISTS else ''}" for slot in step.shown)
        slots += "".join(f"; optionally `{slot}` (numbered from 0)" for slot in step.also)
        example = step.shape.shortest(1)
        versions = ", ".join(
            f"{language} {prompt_of(step, language, None).version}" for language in get_args(Language)
        )
        parts.append(f"| `{step.name}` | {slots} | `{example}` | {versions} |")
    return parts
