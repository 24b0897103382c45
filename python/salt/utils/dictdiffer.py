"""Differences of maps."""
import copy
from collections.abc import Mapping


class DictDiffer:
    """What was added, removed and changed from a past to a current map."""

    def __init__(self, current_dict, past_dict):
        self.current_dict, self.past_dict = current_dict, past_dict
        self.set_current, self.set_past = set(current_dict), set(past_dict)
        self.intersect = self.set_current & self.set_past

    def added(self):
        return self.set_current - self.intersect

    def removed(self):
        return self.set_past - self.intersect

    def changed(self):
        return {key for key in self.intersect if self.past_dict[key] != self.current_dict[key]}

    def unchanged(self):
        return {key for key in self.intersect if self.past_dict[key] == self.current_dict[key]}


def deep_diff(old, new, ignore=None):
    """`{old: …, new: …}` with only what differs."""
    ignore = ignore or []
    was, now = {}, {}
    for key in set(old) | set(new):
        if key in ignore:
            continue
        if key not in new:
            was[key] = copy.deepcopy(old[key])
        elif key not in old:
            now[key] = copy.deepcopy(new[key])
        elif isinstance(old[key], Mapping) and isinstance(new[key], Mapping):
            inner = deep_diff(old[key], new[key])
            if "old" in inner:
                was[key] = inner["old"]
            if "new" in inner:
                now[key] = inner["new"]
        elif old[key] != new[key]:
            was[key], now[key] = old[key], new[key]
    ret = {}
    if was:
        ret["old"] = was
    if now:
        ret["new"] = now
    return ret


def recursive_diff(past_dict, current_dict, ignore_missing_keys=True):
    return RecursiveDictDiffer(past_dict, current_dict, ignore_missing_keys)


class RecursiveDictDiffer(DictDiffer):
    """The same through nested maps, with dotted names."""

    NONE_VALUE = "<_null_>"

    def __init__(self, past_dict, current_dict, ignore_missing_keys):
        super().__init__(current_dict, past_dict)
        self._ignore = ignore_missing_keys
        self.diffs = self._differences(current_dict, past_dict)

    def _differences(self, current, past):
        found = {}
        for key in current:
            if key not in past:
                if not self._ignore:
                    found[key] = {"old": self.NONE_VALUE, "new": current[key]}
            elif isinstance(current[key], dict) and isinstance(past[key], dict):
                inner = self._differences(current[key], past[key])
                if inner:
                    found[key] = inner
            elif current[key] != past[key]:
                found[key] = {"old": past[key], "new": current[key]}
        for key in past:
            if key not in current and not self._ignore:
                found[key] = {"old": past[key], "new": self.NONE_VALUE}
        return found

    @property
    def changes_str(self):
        return "\n".join(self._lines(self.diffs, ""))

    def _lines(self, diffs, indent):
        lines = []
        for key in sorted(diffs):
            if set(diffs[key]) == {"old", "new"}:
                lines.append("{}{} from '{}' to '{}'".format(indent, key, diffs[key]["old"], diffs[key]["new"]))
            else:
                lines.append("{}{}:".format(indent, key))
                lines.extend(self._lines(diffs[key], indent + "  "))
        return lines

    def _side(self, diffs, side):
        return {
            key: value[side] if set(value) == {"old", "new"} else self._side(value, side)
            for key, value in diffs.items()
            if set(value) != {"old", "new"} or value[side] != self.NONE_VALUE
        }

    @property
    def old_values(self):
        return self._side(self.diffs, "old")

    @property
    def new_values(self):
        return self._side(self.diffs, "new")

    def _names(self, diffs, kind, path=""):
        found = []
        for key, value in diffs.items():
            if set(value) != {"old", "new"}:
                found.extend(self._names(value, kind, path + key + "."))
            elif kind == _kind(value, self.NONE_VALUE):
                found.append(path + key)
        return found

    def added(self):
        return sorted(self._names(self.diffs, "added"))

    def removed(self):
        return sorted(self._names(self.diffs, "removed"))

    def changed(self):
        return sorted(self._names(self.diffs, "changed"))


def _kind(value, none):
    if value["old"] == none:
        return "added"
    return "removed" if value["new"] == none else "changed"
