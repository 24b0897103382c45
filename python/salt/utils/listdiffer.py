"""Differences of lists of maps with a common key."""
from .dictdiffer import recursive_diff


def list_diff(list_a, list_b, key):
    return ListDictDiffer(list_a, list_b, key)


class ListDictDiffer:
    """Added, removed and changed entries, found by the value of a key."""

    def __init__(self, current_list, next_list, key):
        self._key = key
        self._old = {item[key]: item for item in current_list}
        self._new = {item[key]: item for item in next_list}

    @property
    def added(self):
        return [value for name, value in self._new.items() if name not in self._old]

    @property
    def removed(self):
        return [value for name, value in self._old.items() if name not in self._new]

    @property
    def intersect(self):
        return [{"key": name, "old": self._old[name], "new": self._new[name]} for name in self._old if name in self._new]

    @property
    def changed(self):
        found = []
        for item in self.intersect:
            diff = recursive_diff(item["old"], item["new"], False)
            found.extend("{}.{}.{}".format(self._key, item["key"], name) for name in diff.changed())
        return found

    @property
    def diffs(self):
        return [{item["key"]: recursive_diff(item["old"], item["new"], False).diffs} for item in self.intersect
                if item["old"] != item["new"]]
