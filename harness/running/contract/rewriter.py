"""The contract of a rewriter."""

from __future__ import annotations

from harness.running.contract.check import QUESTIONS, Check, Remark, fresh_tools, queries
from harness.steps import REWRITERS, RewriterConfig


def rewriter_checks(config: RewriterConfig) -> list[Check]:
    """The checks of a rewriter, the most telling first."""

    def asked(texts: tuple[str, ...] = QUESTIONS) -> list[str]:
        with fresh_tools() as tools:
            return [query.text for query in REWRITERS.make(config).run(queries(texts), tools)]

    def says_something() -> None:
        silent = [text for text, made in zip(QUESTIONS, asked(), strict=True) if not made.strip()]
        if silent:
            raise Remark(f"The text for {silent[0]!r} is empty: a retriever finds nothing for it.")

    def repeats() -> None:
        if asked() != asked():
            raise Remark("A second call gives different texts. The first ones are kept under the version.")

    def alone() -> None:
        if asked() != [asked((text,))[0] for text in QUESTIONS]:
            raise Remark("A question gives a different text alone than among others.")

    return [
        ("gives every question one text", asked),
        ("returns text for every question", says_something),
        ("gives the same texts when called again", repeats),
        ("gives a question the same text alone and among others", alone),
        ("accepts an empty question", lambda: asked(("",))),
    ]
