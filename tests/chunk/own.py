"""Chunkers as a user writes them, good and bad."""


def lines(text):
    start = 0
    for line in text.splitlines(keepends=True):
        yield start, start + len(line)
        start += len(line)


def fixed(text, size=100):
    return [[i, min(i + size, len(text))] for i in range(0, len(text), size)]


def texts(text):
    return text.split("\n")


def beyond(text):
    return [(0, len(text) + 1)]


def empty_chunk(text):
    return [(3, 3)]


def backwards(text):
    return [(5, 9), (0, 5)]


def halves(text):
    return [(0, 2.5)]


def whole(text):
    return text


def fails(text):
    return text.no_such_method()


def fails_late(text):
    yield 0, 1
    text.no_such_method()
