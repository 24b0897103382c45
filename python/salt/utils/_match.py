"""Whether a path through nested data has a value."""
import fnmatch
import re

from salt.defaults import DEFAULT_TARGET_DELIM

from ._traverse import traverse_dict_and_list


class _Matcher:
    """Compares values with a pattern: a glob, a regular expression or the value itself, without regard to case."""

    def __init__(self, regex, exact):
        self._regex, self._exact = regex, exact

    def one(self, value, pattern):
        value, pattern = str(value).lower(), str(pattern).lower()
        if not self._regex:
            return value == pattern if self._exact else fnmatch.fnmatch(value, pattern)
        try:
            return bool(re.match(pattern, value))
        except re.error:
            return False

    def mapping(self, found, pattern):
        anywhere = pattern.startswith("*:")
        pattern = pattern[2:] if anywhere else pattern
        if pattern == "*" or pattern in found or self.expression(found, pattern, DEFAULT_TARGET_DELIM):
            return True
        return anywhere and any(self._below(item, pattern) for item in found.values())

    def _below(self, item, pattern):
        if isinstance(item, dict):
            return self.mapping(item, pattern)
        return any(self.one(each, pattern) for each in (item if isinstance(item, list) else [item]))

    def expression(self, data, expr, delimiter):
        parts = expr.split(delimiter)
        for count in range(len(parts) - 1, 0, -1):
            key, pattern = delimiter.join(parts[:count]), delimiter.join(parts[count:])
            found = traverse_dict_and_list(data, key, {}, delimiter)
            if key == "*":
                found, pattern = data, expr
            if found != {} and self._any(found, pattern):
                return True
        return False

    def _any(self, found, pattern):
        if isinstance(found, dict):
            return self.mapping(found, pattern)
        if not isinstance(found, (list, tuple)):
            return self.one(found, pattern)
        return any(isinstance(item, dict) and self.mapping(item, pattern) or self.one(item, pattern) for item in found)


def subdict_match(data, expr, delimiter=DEFAULT_TARGET_DELIM, regex_match=False, exact_match=False):
    """Whether `key:key:pattern` fits the data; every way to split the expression is tried."""
    return _Matcher(regex_match, exact_match).expression(data, expr, delimiter)
