"""Data as the outputter `nested` shows them, without colours."""
from collections import OrderedDict
from collections.abc import Mapping
from numbers import Number

# Extensions that call it set this first.
__opts__ = {}


def _lines(data, indent, prefix):
    space = " " * indent
    if isinstance(data, bytes):
        data = data.decode("utf-8", "replace")
    if data is None or isinstance(data, (bool, Number)):
        return ["{}{}{!r}".format(space, prefix, data)]
    if isinstance(data, str):
        return [space + (prefix if at == 0 else " " * len(prefix)) + line for at, line in enumerate(data.splitlines())]
    if isinstance(data, (list, tuple)):
        return [line for item in data for line in _item(item, indent)]
    if not isinstance(data, Mapping):
        return []
    found = [space + "----------"] if indent else []
    for key, value in _entries(data):
        found.append("{}{}{}:".format(space, prefix, key))
        found += _lines(value, indent + 4, "")
    return found


def _item(item, indent):
    if isinstance(item, (list, tuple, Mapping)):
        return [" " * indent + "|_"] + _lines(item, indent + 2, "" if isinstance(item, Mapping) else "- ")
    return _lines(item, indent, "- ")


def _entries(data):
    """Sorted, unless somebody gave them an order."""
    if isinstance(data, OrderedDict):
        return list(data.items())
    try:
        return [(key, data[key]) for key in sorted(data)]
    except TypeError:
        return sorted(((str(key), value) for key, value in data.items()), key=lambda entry: entry[0])


def output(ret, **kwargs):
    """As the outputter is called, with `nested_indent`."""
    return "\n".join(_lines(ret, kwargs.get("nested_indent", 0), ""))
