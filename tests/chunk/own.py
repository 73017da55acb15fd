"""Chunkers as a user writes them, good and bad."""


def lines(text):
    start = 0
    for line in text.splitlines(keepends=True):
        yield start, start + len(line)
        start += len(line)


def fixed(text, size=100):
    return [[i, min(i + size, len(text))] for i in range(0, len(text), size)]


def given(text, ranges):
    return ranges


def fails(text):
    return text.no_such_method()


def fails_late(text):
    yield 0, 1
    text.no_such_method()
