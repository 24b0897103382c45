"""Differences of lists of maps with a common key."""
from .dictdiffer import recursive_diff


def list_diff(list_a, list_b, key):
    return ListDictDiffer(list_a, list_b, key)


class ListDictDiffer:
    """Added, removed and changed entries, found by the value of a key."""

    def __init__(self, current_list, next_list, key):
        for item in current_list + next_list:
            if key not in item:
                raise ValueError("The supplied key '{}' does not exist in item, the available keys are: {}".format(key, item.keys()))
        self._key, self._current, self._new = key, current_list, next_list
        before, after = [item[key] for item in current_list], [item[key] for item in next_list]
        self._removed = [item for item in current_list if item[key] not in after]
        self._added = [item for item in next_list if item[key] not in before]
        self._intersect = [{key: item[key], "old": item, "new": next_list[after.index(item[key])]}
                           for item in current_list if item[key] in after]

    def _differences(self, which="all"):
        return [diff for kind, diffs in (
            ("intersect", [recursive_diff(item["old"], item["new"]) for item in self._intersect]),
            ("added", [recursive_diff({}, item) for item in self._added]),
            ("removed", [recursive_diff(item, {}, ignore_missing_keys=False) for item in self._removed]),
        ) if which in (kind, "all") for diff in diffs]

    def _name(self, diff):
        return (diff.past_dict or diff.current_dict)[self._key]

    @property
    def current_list(self):
        return self._current

    @property
    def new_list(self):
        return self._new

    @property
    def added(self):
        return self._added

    @property
    def removed(self):
        return self._removed

    @property
    def intersect(self):
        return self._intersect

    def remove_diff(self, diff_key=None, diff_list="intersect"):
        """Leaves a key out of the comparison."""
        pairs = {"intersect": [item[side] for item in self._intersect for side in ("old", "new")], "removed": self._removed}
        for item in pairs.get(diff_list, ()):
            item.pop(diff_key, None)

    @property
    def diffs(self):
        return [{self._name(diff): diff.diffs} for diff in self._differences() if diff.diffs]

    @property
    def changes_str(self):
        def line(diff, said):
            return "\tidentified by {} {}:\n\t{}\n".format(self._key, self._name(diff), said)

        changed = [line(diff, diff.changes_str.replace("\n", "\n\t")) for diff in self._differences("intersect") if diff.diffs]
        gone = [line(diff, "will be removed") for diff in self._differences("removed")]
        return "".join(changed + gone + [line(diff, "will be added") for diff in self._differences("added")])

    @property
    def changes_str2(self):
        def line(diff, said):
            return "  {}={} {}".format(self._key, self._name(diff), said)

        changed = [line(diff, "(updated):\n    " + diff.changes_str.replace("\n", "\n    "))
                   for diff in self._differences("intersect") if diff.diffs]
        gone = [line(diff, "(removed)") for diff in self._differences("removed")]
        return "\n".join(changed + gone + [line(diff, "(added): {}".format(dict(diff.current_dict))) for diff in self._differences("added")])

    @property
    def new_values(self):
        return [dict(diff.new_values, **{self._key: self._name(diff)}) for diff in self._differences() if diff.diffs and diff.current_dict]

    @property
    def old_values(self):
        return [dict(diff.old_values, **{self._key: self._name(diff)}) for diff in self._differences() if diff.diffs and diff.past_dict]

    def changed(self, selection="all"):
        """`key.name.changed`, of entries in both lists or of all."""
        found = []
        for diff in self._differences(selection):
            diff.ignore_unset_values = False
            found += ["{}.{}.{}".format(self._key, self._name(diff), change) for change in diff.changed() if change != self._key]
        return found
