"""Merging maps."""
import copy
from collections import OrderedDict
from collections.abc import Mapping

from salt.defaults import DEFAULT_TARGET_DELIM


def update(dest, upd, recursive_update=True, merge_lists=False):
    """Merges `upd` into `dest`, which is changed and returned."""
    if not isinstance(dest, Mapping) or not isinstance(upd, Mapping):
        raise TypeError("Cannot update using non-dict types in dictupdate.update()")
    for key in list(upd):
        value, mine = upd[key], dest.get(key) if recursive_update else None
        if isinstance(mine, Mapping) and isinstance(value, Mapping):
            value = update(mine, value, merge_lists=merge_lists)
        elif merge_lists and isinstance(mine, list) and isinstance(value, list):
            merged = copy.deepcopy(mine)
            merged.extend([item for item in value if item not in merged])
            value = merged
        dest[key] = value
    return dest


def merge_list(obj_a, obj_b):
    return {key: [value, obj_b[key]] if key in obj_b else value for key, value in obj_a.items()}


def merge_recurse(obj_a, obj_b, merge_lists=False):
    return update(copy.deepcopy(obj_a), obj_b, merge_lists=merge_lists)


def merge_overwrite(obj_a, obj_b, merge_lists=False):
    """Keys that both have are replaced in the first one, too."""
    for key in obj_b:
        if key in obj_a:
            obj_a[key] = obj_b[key]
    return merge_recurse(obj_a, obj_b, merge_lists=merge_lists)


def merge_aggregate(obj_a, obj_b):
    from salt.serializers.yamlex import merge_recursive

    return merge_recursive(obj_a, obj_b, level=1)


def merge(obj_a, obj_b, strategy="smart", renderer="yaml", merge_lists=False):
    if strategy == "smart":
        ordered = renderer.split("|")[-1] == "yamlex" or renderer.startswith("yamlex_")
        strategy = "aggregate" if ordered else "recurse"
    if strategy == "list":
        return merge_list(obj_a, obj_b)
    if strategy == "aggregate":
        return merge_aggregate(obj_a, obj_b)
    if strategy == "overwrite":
        return merge_overwrite(obj_a, obj_b, merge_lists)
    return merge_recurse(obj_a, obj_b, merge_lists and strategy == "recurse")


def ensure_dict_key(in_dict, keys, delimiter=DEFAULT_TARGET_DELIM, ordered_dict=False):
    found = in_dict
    for key in keys.split(delimiter):
        if not isinstance(found.get(key), dict):
            found[key] = OrderedDict() if ordered_dict else {}
        found = found[key]
    return in_dict


def _parent(in_dict, keys, delimiter, ordered):
    """The map that has or gets the last key, and that key."""
    above, found, last = keys.rpartition(delimiter)
    inner = in_dict
    if found:
        ensure_dict_key(in_dict, above, delimiter, ordered)
        for part in above.split(delimiter):
            inner = inner[part]
    return inner, last


def set_dict_key_value(in_dict, keys, value, delimiter=DEFAULT_TARGET_DELIM, ordered_dict=False):
    found, last = _parent(in_dict, keys, delimiter, ordered_dict)
    found[last] = value
    return in_dict


def _change(in_dict, keys, value, delimiter, ordered, verb, empty):
    """Calls the method of that name of what is there, or of something empty."""
    from salt.exceptions import SaltInvocationError

    found, last = _parent(in_dict, keys, delimiter, ordered)
    if found.get(last) is None:
        found[last] = empty()
    there = type(found[last])
    try:
        getattr(found[last], verb)(value)
    except AttributeError:
        raise SaltInvocationError("The last key contains a {}, which cannot {}.".format(there, verb))
    except (TypeError, ValueError):
        raise SaltInvocationError("Cannot {} {} with a {}.".format(verb, there, type(value)))
    return in_dict


def update_dict_key_value(in_dict, keys, value, delimiter=DEFAULT_TARGET_DELIM, ordered_dict=False):
    return _change(in_dict, keys, value, delimiter, ordered_dict, "update", OrderedDict if ordered_dict else dict)


def append_dict_key_value(in_dict, keys, value, delimiter=DEFAULT_TARGET_DELIM, ordered_dict=False):
    return _change(in_dict, keys, value, delimiter, ordered_dict, "append", list)


def extend_dict_key_value(in_dict, keys, value, delimiter=DEFAULT_TARGET_DELIM, ordered_dict=False):
    return _change(in_dict, keys, value, delimiter, ordered_dict, "extend", list)
