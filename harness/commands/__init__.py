"""The commands, one a file: ``add`` describes its arguments, ``run`` does the work and returns the exit code.

A command imports what does the work inside ``run``: --help must answer at once.
"""

from harness.commands import (
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

# a file and the words that its ``add`` makes commands of
COMMANDS = {
    init: ("init",),
    bench: ("bench",),
    validate: ("validate",),
    show: ("show",),
    report: ("report",),
    plot: ("plot",),
    comparing: ("compare", "gate"),
    find: ("find",),
    label: ("label",),
    labels: ("labels",),
    testset: ("testset",),
    score: ("score",),
    score_answers: ("score-answers", "export-answers"),
    abilities: ("abilities",),
    judge: ("judge",),
    importing: ("import",),
    check_kind: ("check-kind",),
    cache: ("cache",),
}
