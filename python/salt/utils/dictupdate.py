"""Merging maps."""
import copy
from collections.abc import Mapping

from salt.defaults import DEFAULT_TARGET_DELIM


def update(dest, upd, recursive_update=True, merge_lists=False):
    """Merges `upd` into `dest`, which is changed and returned."""
    if not isinstance(dest, Mapping) or not isinstance(upd, Mapping):
        raise TypeError("Cannot update using non-dict types in dictupdate.update()")
    for key in list(upd):
        value = upd[key]
        mine = dest.get(key)
        if recursive_update and isinstance(mine, Mapping) and isinstance(value, Mapping):
            dest[key] = update(mine, value, merge_lists=merge_lists)
        elif recursive_update and merge_lists and isinstance(mine, list) and isinstance(value, list):
            dest[key] = copy.deepcopy(mine) + [item for item in value if item not in mine]
        else:
            dest[key] = value
    return dest


def merge_list(obj_a, obj_b):
    ret = {}
    for key, value in obj_a.items():
        ret[key] = [value, obj_b[key]] if key in obj_b else value
    ret.update({key: value for key, value in obj_b.items() if key not in obj_a})
    return ret


def merge_recurse(obj_a, obj_b, merge_lists=False):
    return update(copy.deepcopy(obj_a), obj_b, merge_lists=merge_lists)


def merge_overwrite(obj_a, obj_b, merge_lists=False):
    found = copy.copy(obj_a)
    found.update(obj_b)
    return found


def merge_aggregate(obj_a, obj_b):
    return merge_recurse(obj_a, obj_b, merge_lists=True)


def merge(obj_a, obj_b, strategy="smart", renderer="yaml", merge_lists=False):
    if strategy in ("smart", "recurse"):
        return merge_recurse(obj_a, obj_b, merge_lists)
    if strategy == "list":
        return merge_list(obj_a, obj_b)
    if strategy == "aggregate":
        return merge_aggregate(obj_a, obj_b)
    if strategy == "none":
        return merge_recurse(obj_a, obj_b)
    return merge_overwrite(obj_a, obj_b, merge_lists)


def ensure_dict_key(in_dict, keys, delimiter=DEFAULT_TARGET_DELIM, ordered_dict=False):
    found = in_dict
    for key in keys.split(delimiter) if isinstance(keys, str) else keys:
        if not isinstance(found.get(key), Mapping):
            found[key] = {}
        found = found[key]
    return in_dict


def _parent(in_dict, keys, delimiter):
    parts = keys.split(delimiter)
    ensure_dict_key(in_dict, delimiter.join(parts[:-1]), delimiter) if parts[:-1] else None
    found = in_dict
    for part in parts[:-1]:
        found = found[part]
    return found, parts[-1]


def set_dict_key_value(in_dict, keys, value, delimiter=DEFAULT_TARGET_DELIM, ordered_dict=False):
    found, last = _parent(in_dict, keys, delimiter)
    found[last] = value
    return in_dict


def update_dict_key_value(in_dict, keys, value, delimiter=DEFAULT_TARGET_DELIM, ordered_dict=False):
    found, last = _parent(in_dict, keys, delimiter)
    found.setdefault(last, {}).update(value)
    return in_dict


def append_dict_key_value(in_dict, keys, value, delimiter=DEFAULT_TARGET_DELIM, ordered_dict=False):
    found, last = _parent(in_dict, keys, delimiter)
    found.setdefault(last, []).append(value)
    return in_dict


def extend_dict_key_value(in_dict, keys, value, delimiter=DEFAULT_TARGET_DELIM, ordered_dict=False):
    found, last = _parent(in_dict, keys, delimiter)
    found.setdefault(last, []).extend(value)
    return in_dict
