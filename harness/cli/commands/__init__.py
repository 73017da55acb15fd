"""The commands, each declared over the function that does its work; `COMMANDS` is their order in the help.

That function imports what it needs inside: --help must be fast.
"""

from harness.cli.commands import (
    abilities,
    bench,
    cache,
    check_kind,
    comparing,
    find,
    importing,
    init,
    judge,
    label,
    labels,
    plot,
    report,
    score,
    score_answers,
    show,
    testset,
    validate,
)

COMMANDS = (
    init.init,
    bench.bench,
    validate.validate,
    show.show,
    report.report,
    plot.plot,
    comparing.compare,
    comparing.gate,
    find.find,
    label.label,
    labels.labels,
    testset.testset,
    score.score,
    score_answers.score_answers,
    score_answers.export_answers,
    abilities.abilities,
    judge.judge,
    importing.import_,
    check_kind.check_kind,
    cache.cache,
)
