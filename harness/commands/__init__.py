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

COMMANDS = (
    init,
    bench,
    validate,
    show,
    report,
    plot,
    comparing,
    find,
    label,
    labels,
    testset,
    score,
    score_answers,
    abilities,
    judge,
    importing,
    check_kind,
    cache,
)
