"""A language model says which values of the table a question is about."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field

from harness import models
from harness.steps.search.filter import Filter, Named, TableValues
from harness.steps.search.filter.names import Names, years_in
from harness.steps.search.needs import Warned, answers_of
from harness.steps.search.search_wordings import FAILURES
from harness.steps.search.step import FilterConfig, Identity
from harness.values import ConfigError, LlmCall, Query, Run, Silent

FOLDER = Path(__file__).parent / "prompts"
_FAILING = models.FailurePolicy(FAILURES, "filter", "unfiltered")


class LlmFilterConfig(models.LlmStepConfig, FilterConfig):
    """A language model reads every question; its answers are paid once and kept in the ledger."""

    load = models.prompts_of(FOLDER, models.Prompt, "a filter", ("fields", "query"))
    kind: Literal["llm"] = "llm"
    prompt: models.Prompt = Field(
        "fields",
        validate_default=True,
        description="`fields`, `fields_zh`, or the path of your own file: it ends in `.yaml` and has "
        "`{{ fields }}` and `{{ query }}`.",
    )
    most_values: int = Field(
        300,
        ge=1,
        description="A column with more values stops the run, because all of them are in every prompt.",
    )
    on_failure: Literal["fail", "unfiltered"] = Field(
        "fail",
        description="A question without a usable answer stops the run, or is searched in all "
        "documents (`unfiltered`); the run lists them.",
    )


@dataclass(frozen=True, slots=True)
class FieldsForm(models.TextForm):
    """A prompt that is answered with a JSON object: values by column."""

    columns: tuple[str, ...] = ()

    def read(self, call: LlmCall, text: str) -> models.Malformed | None:
        """Malformed if it is not such an object, or names another column."""
        parsed = _parsed(text, self.columns)
        return parsed if isinstance(parsed, models.Malformed) else None

    def shortest(self, call: LlmCall) -> str:
        """One value per column."""
        return json.dumps({column: ["value"] for column in self.columns})


class LlmFilter(Filter[LlmFilterConfig]):
    """Asks about each question by itself. A value that no document has leaves none, see ``on_empty``."""

    def identity(self) -> Identity:
        """The prompt, the model and its parameters, and the handling of an answer."""
        c = self.config
        facts = c.model_dump(mode="json", include=set(FilterConfig.model_fields))
        return [facts, c.prompt.model_dump(), c.endpoint.model, c.endpoint.parameters(), c.on_failure]

    def named(self, queries: Sequence[Query], facts: TableValues) -> Run[list[Named | models.Malformed]]:
        """The model's values as the table writes them; raises LlmError if an answer cannot be used."""
        c = self.config
        about = [(query.text, ()) for query in queries]
        request = models.Request(c, self._form(facts), about, c.prompt.name, "filter")
        answers = yield from answers_of(request)
        named: list[Named | models.Malformed] = []
        failed: dict[str, str] = {}
        for query, answer in zip(queries, answers, strict=True):
            text = models.text_of(answer)
            values = (
                models.Malformed(answer.reason or "no words") if text is None else _parsed(text, c.columns)
            )
            if isinstance(values, models.Malformed):
                failed[query.query_id] = values.reason
                named.append(values)
                continue
            written = {column: _as_written(column, value, facts, c) for column, value in values.items()}
            named.append(
                {column: values_written for column, values_written in written.items() if values_written}
            )
        # several wordings of one query are filtered by the question behind them
        heard = Silent()
        _FAILING.report(c, failed, len({query.query_id for query in queries}), heard)
        yield Warned(heard.warnings)
        return named

    def _form(self, facts: TableValues) -> FieldsForm:
        c = self.config
        lines = []
        for column in c.columns:
            values = sorted(facts.of(column))
            if len(values) > c.most_values:
                raise ConfigError(
                    f"{c.file}: column {column} has {len(values)} values, too many for a prompt (most_values "
                    f"{c.most_values}). Remove it from this filter, raise most_values, or use kind: rules."
                )
            years = " (years)" if column in c.years else ""
            lines.append(f"- {column}{years}: {json.dumps(values, ensure_ascii=False)}")
        return FieldsForm(*c.prompt.filled(fields="\n".join(lines)), c.columns)


def _parsed(text: str, columns: Sequence[str]) -> dict[str, list[str]] | models.Malformed:
    """The values by column in an answer."""
    parsed = models.json_in(text, "{")
    if isinstance(parsed, models.Malformed):
        return parsed
    if not parsed.keys() <= set(columns):
        return models.Malformed("unknown_field")
    values = {column: value if isinstance(value, list) else [value] for column, value in parsed.items()}
    if not all(isinstance(value, str | int) for entries in values.values() for value in entries):
        return models.Malformed("no_values")
    return {column: [str(value) for value in entries] for column, entries in values.items()}


def _as_written(
    column: str, values: Sequence[str], facts: TableValues, config: FilterConfig
) -> tuple[str, ...]:
    """Values as the table writes them; a value that it lacks as the model wrote it."""
    if column in config.years:
        return tuple(dict.fromkeys(str(year) for value in values for year in years_in(value)))
    names = Names.of((value, value) for value in facts.of(column))
    return tuple(dict.fromkeys(one for value in values for one in (names.found_in(value) or (value,))))
