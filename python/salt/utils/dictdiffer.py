"""Differences of maps."""
import copy
from collections.abc import Mapping


def diff(current_dict, past_dict):
    return DictDiffer(current_dict, past_dict)


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
    """`{old: …, new: …}` with only what differs, also in maps of maps."""
    was, now = copy.deepcopy(old), copy.deepcopy(new)
    _leave_differences(was, now, ignore or [])
    return {side: left for side, left in (("old", was), ("new", now)) if left}


def _leave_differences(was, now, ignored):
    for key in set(was) | set(now):
        if key in ignored:
            was.pop(key, None)
            now.pop(key, None)
        elif key in was and key in now:
            if was[key] != now[key] and isinstance(was[key], Mapping) and isinstance(now[key], Mapping):
                _leave_differences(was[key], now[key], ignored)
            if was[key] == now[key]:
                del was[key], now[key]


def recursive_diff(past_dict, current_dict, ignore_missing_keys=True):
    return RecursiveDictDiffer(past_dict, current_dict, ignore_missing_keys)


class RecursiveDictDiffer(DictDiffer):
    """The same through nested maps, with dotted names."""

    NONE_VALUE = "<_null_>"

    def __init__(self, past_dict, current_dict, ignore_missing_keys):
        super().__init__(current_dict, past_dict)
        self._diffs = self._between(current_dict, past_dict, ignore_missing_keys)
        # Whether what was added or removed is no change.
        self.ignore_unset_values = True

    @classmethod
    def _between(cls, current, past, ignore_missing):
        found = {}
        for key, value in current.items():
            before = past.get(key, cls.NONE_VALUE)
            if key in past and value == before:
                continue
            if isinstance(value, dict) and isinstance(before, dict):
                inner = cls._between(value, before, ignore_missing)
                if inner:
                    found[key] = inner
            else:
                found[key] = {"new": value, "old": before}
        if not ignore_missing:
            found.update({key: {"new": cls.NONE_VALUE, "old": past[key]} for key in past if key not in current})
        return found

    @property
    def diffs(self):
        return self._diffs

    @classmethod
    def _side(cls, diffs, side):
        return {key: value[side] if side in value else cls._side(value, side) for key, value in diffs.items()}

    @property
    def new_values(self):
        return self._side(self._diffs, "new")

    @property
    def old_values(self):
        return self._side(self._diffs, "old")

    @property
    def changes_str(self):
        return "\n".join(self._lines(self._diffs))

    @classmethod
    def _lines(cls, diffs):
        lines = []
        for key in sorted(diffs):
            if set(diffs[key]) == {"new", "old"}:
                lines.append("{} from {} to {}".format(key, cls._shown(diffs[key]["old"]), cls._shown(diffs[key]["new"])))
                continue
            inner = cls._lines(diffs[key])
            lines += ["{}:".format(key)] + ["  " + line for line in inner] if inner else []
        return lines

    @classmethod
    def _shown(cls, value):
        if value == cls.NONE_VALUE:
            return "nothing"
        if isinstance(value, list):
            value = ", ".join(value)
        return "'{}'".format(value) if isinstance(value, str) else value

    def _only_on(self, here, there, nested, separator):
        """Names of what is on one side only: whole entries, and what lies in maps of the other side."""
        found = []

        def inside(value, path):
            for key in value:
                found.append(path + str(key))
                if nested and isinstance(value[key], dict):
                    inside(value[key], found[-1] + separator)

        def visit(diffs, path):
            for key, value in diffs.items():
                name = path + str(key)
                if not isinstance(value, dict):
                    continue
                if "old" not in value:
                    visit(value, name + separator)
                elif value[there] == self.NONE_VALUE:
                    found.append(name)
                    if nested and isinstance(value[here], dict):
                        inside(value[here], name + separator)
                elif isinstance(value[here], dict) and not isinstance(value[there], dict):
                    inside(value[here], name + separator)

        visit(self._diffs, "")
        return sorted(found)

    def added(self, include_nested=False, separator="."):
        return self._only_on("new", "old", include_nested, separator)

    def removed(self, include_nested=False, separator="."):
        return self._only_on("old", "new", include_nested, separator)

    def changed(self, separator="."):
        found = []

        def visit(diffs, path):
            for key, value in diffs.items():
                name = path + str(key)
                if not isinstance(value, dict):
                    continue
                both = "old" in value and "new" in value
                counts = not self.ignore_unset_values or self.NONE_VALUE not in (value.get("old"), value.get("new"))
                if not both or not counts:
                    visit(value, name + separator)
                elif isinstance(value["new"], dict):
                    visit(value["new"], name + separator)
                else:
                    found.append(name)

        visit(self._diffs, "")
        return sorted(found)

    def unchanged(self, separator="."):
        found = []

        def visit(current, diffs, path):
            for key, value in current.items():
                if key not in diffs:
                    found.append(path + str(key))
                elif isinstance(value, dict) and "new" not in diffs[key]:
                    visit(value, diffs[key], path + str(key) + separator)

        visit(self.current_dict, self._diffs, "")
        return sorted(found)
