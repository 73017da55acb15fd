"""The order of a run of all tests: each worker's share begins with fast tests and ends with cheap ones."""

from tests.order import APART, LONG, OTHERS, ordered, takes_long


class Item:
    """A test as far as the order looks at it."""

    def __init__(self, nodeid, mark=None):
        self.nodeid, self.mark = nodeid, mark

    def get_closest_marker(self, name):
        return name if name == self.mark else None


def shares_of(items, count):
    """What xdist gives to each worker at first: as many tests as the others, in their order."""
    order, shares = ordered(items, count), []
    for worker in range(count):
        share = (len(order) - sum(map(len, shares))) // (count - worker)
        begin = sum(map(len, shares))
        shares.append(order[begin : begin + share])
    return shares


def test_each_worker_begins_with_fast_tests_and_then_takes_the_dearest():
    dear = max(LONG, key=LONG.get)
    assert LONG[dear] > 4 * OTHERS
    fast = [Item(f"tests/test_a.py::test_{number}") for number in range(101)]
    cheap = [Item(f"tests/test_b{number}.py::test_it", "slow") for number in range(8)]
    apart = [Item(f"{APART[0]}::test_it[{number}]", "slow") for number in range(40)]
    items = [*fast, *apart, Item(dear, "slow"), *cheap]
    for count in (1, 2, 3):
        shares = shares_of(items, count)
        assert sorted(item.nodeid for share in shares for item in share) == sorted(i.nodeid for i in items)
        for share in shares:
            slow = [takes_long(item) for item in share]
            assert slow == sorted(slow)
            assert 0 < sum(slow) < len(slow)
        assert dear in {next(item.nodeid for item in share if takes_long(item)) for share in shares}


def test_the_files_that_are_named_are_there(request):
    root = request.config.rootpath
    assert [name for name in (*LONG, *APART) if not (root / name.partition("::")[0]).is_file()] == []
