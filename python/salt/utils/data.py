"""Nested data."""
import copy
import datetime
import fnmatch
import re
from collections.abc import Iterable, Mapping

from salt.defaults import DEFAULT_TARGET_DELIM

_MISSING = object()


class CaseInsensitiveDict(dict):
    """Keys are compared without regard to case."""

    def __init__(self, init=None, **kwargs):
        super().__init__()
        self.update(init or {}, **kwargs)

    def _real(self, key):
        low = key.lower() if isinstance(key, str) else key
        return next((known for known in self if (known.lower() if isinstance(known, str) else known) == low), key)

    def __setitem__(self, key, value):
        super().__setitem__(self._real(key), value)

    def __getitem__(self, key):
        return super().__getitem__(self._real(key))

    def __delitem__(self, key):
        super().__delitem__(self._real(key))

    def __contains__(self, key):
        return dict.__contains__(self, self._real(key))

    def get(self, key, default=None):
        return super().get(self._real(key), default)

    def update(self, other=(), **kwargs):
        for key, value in dict(other, **kwargs).items():
            self[key] = value


def traverse_dict(data, key, default=None, delimiter=DEFAULT_TARGET_DELIM):
    found = data
    try:
        for part in key.split(delimiter):
            found = found[part]
    except (KeyError, IndexError, TypeError):
        return default
    return found


def traverse_dict_and_list(data, key, default=None, delimiter=DEFAULT_TARGET_DELIM):
    """The same through lists: an index, or the maps of the list that have the key."""
    found = data
    for part in (key.split(delimiter) if isinstance(key, str) else key):
        if isinstance(found, list):
            try:
                found = found[int(part)]
                continue
            except ValueError:
                found = next((item[part] for item in found if isinstance(item, dict) and part in item), _MISSING)
            except IndexError:
                return default
        else:
            try:
                found = found[part]
            except (KeyError, TypeError):
                try:
                    found = found[int(part)]
                except (KeyError, TypeError, ValueError, IndexError):
                    return default
        if found is _MISSING:
            return default
    return found


def compare_dicts(old=None, new=None):
    ret = {}
    for key in set(new or {}) | set(old or {}):
        if key not in (old or {}):
            ret[key] = {"old": "", "new": new[key]}
        elif key not in (new or {}):
            ret[key] = {"new": "", "old": old[key]}
        elif new[key] != old[key]:
            ret[key] = {"old": old[key], "new": new[key]}
    return ret


def compare_lists(old=None, new=None):
    ret = {}
    added = [item for item in new if item not in old]
    gone = [item for item in old if item not in new]
    if added:
        ret["new"] = added
    if gone:
        ret["old"] = gone
    return ret


def recursive_diff(old, new, ignore_keys=None, ignore_order=False, ignore_missing_keys=False):
    ret_old, ret_new = {}, {}
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in set(old) | set(new):
            if key in (ignore_keys or ()):
                continue
            if key not in old:
                ret_new[key] = new[key]
            elif key not in new:
                if not ignore_missing_keys:
                    ret_old[key] = old[key]
            else:
                inner = recursive_diff(old[key], new[key], ignore_keys, ignore_order, ignore_missing_keys)
                if inner:
                    ret_old[key], ret_new[key] = inner["old"], inner["new"]
        return {"old": ret_old, "new": ret_new} if ret_old or ret_new else {}
    if ignore_order and isinstance(old, list) and isinstance(new, list):
        same = len(old) == len(new) and all(item in new for item in old)
        return {} if same else {"old": old, "new": new}
    return {} if old == new else {"old": old, "new": new}


def get_value(obj, path, default=None):
    return [{"value": traverse_dict_and_list(obj, path, default)}]


def decode(data, encoding=None, errors="strict", keep=False, **kwargs):
    if isinstance(data, (bytes, bytearray)):
        try:
            return bytes(data).decode(encoding or "utf-8", errors)
        except UnicodeDecodeError:
            if keep:
                return data
            raise
    if isinstance(data, Mapping):
        made = [(decode(k, encoding, errors, keep), decode(v, encoding, errors, keep)) for k, v in data.items()]
        return type(data)(made) if kwargs.get("preserve_dict_class") else dict(made)
    if isinstance(data, tuple):
        made = tuple(decode(item, encoding, errors, keep, **kwargs) for item in data)
        return made if kwargs.get("preserve_tuples") else list(made)
    if isinstance(data, list):
        return [decode(item, encoding, errors, keep, **kwargs) for item in data]
    return data


decode_dict = decode_list = decode_tuple = decode


def encode(data, encoding=None, errors="strict", keep=False, **kwargs):
    if isinstance(data, str):
        return data.encode(encoding or "utf-8", errors)
    if isinstance(data, Mapping):
        return {encode(k, encoding, errors, keep): encode(v, encoding, errors, keep) for k, v in data.items()}
    if isinstance(data, (list, tuple)):
        return [encode(item, encoding, errors, keep) for item in data]
    return data


def exactly_n(items, amount=1):
    return sum(1 for item in items if item) == amount


def exactly_one(items):
    return exactly_n(items)


def filter_by(lookup_dict, lookup, traverse, merge=None, default="default", base=None):
    """The entry of the first pattern that matches a value in `traverse`, merged with `base` and `merge`."""
    from .dictupdate import update

    wanted = traverse_dict_and_list(traverse, lookup, None)
    found = lookup_dict.get(default, None)
    for value in (wanted if isinstance(wanted, list) else [wanted]):
        hit = next((key for key in lookup_dict if fnmatch.fnmatchcase(str(value), str(key))), None)
        if hit is not None:
            found = lookup_dict[hit]
            break
    if base and base in lookup_dict:
        under = lookup_dict[base]
        found = under if found is None else (update(copy.deepcopy(under), found) if isinstance(under, Mapping) else found)
    if merge:
        from salt.exceptions import SaltException

        if not isinstance(merge, Mapping):
            raise SaltException("filter_by merge argument must be a dictionary.")
        found = merge if found is None else update(copy.deepcopy(found), copy.deepcopy(merge))
    return found


def subdict_match(data, expr, delimiter=DEFAULT_TARGET_DELIM, regex_match=False, exact_match=False):
    """Whether `key:key:pattern` fits the data; every way to split the expression is tried."""
    parts = expr.split(delimiter)
    for count in range(1, len(parts)):
        value = traverse_dict_and_list(data, delimiter.join(parts[:count]), _MISSING, delimiter)
        if value is _MISSING:
            continue
        pattern = delimiter.join(parts[count:])
        values = value if isinstance(value, (list, tuple)) else list(value) if isinstance(value, Mapping) else [value]
        if pattern == "*":
            return True
        for item in values:
            shown = str(item).lower()
            if exact_match and shown == pattern.lower():
                return True
            if regex_match and re.match(pattern.lower(), shown):
                return True
            if not exact_match and not regex_match and fnmatch.fnmatch(shown, pattern.lower()):
                return True
    return False


def substr_in_list(text, items):
    return any(text in item for item in items)


def is_dictlist(data):
    return isinstance(data, list) and all(isinstance(item, dict) and len(item) == 1 for item in data)


def repack_dictlist(data, strict=False, recurse=False, key_cb=None, val_cb=None):
    """`[{a: 1}, {b: 2}]` as one map."""
    if isinstance(data, str):
        from .yaml import safe_load

        data = safe_load(data)
    key_of = key_cb or (lambda key: key)
    value_of = val_cb or (lambda key, value: value)
    ret = {}
    for item in data if isinstance(data, list) else []:
        if isinstance(item, dict):
            if len(item) != 1:
                return {}
            key, value = next(iter(item.items()))
            if recurse and is_dictlist(value):
                value = repack_dictlist(value, recurse=recurse)
            elif recurse and strict and isinstance(value, list):
                return {}
            ret[key_of(key)] = value_of(key, value)
        elif isinstance(item, (str, int, float)):
            ret[key_of(item)] = None
        else:
            return {}
    return ret


def is_list(value):
    return isinstance(value, list)


def is_iter(thing, ignore=(str,)):
    return not isinstance(thing, tuple(ignore or ())) and isinstance(thing, Iterable)


def is_true(value=None):
    """Salt's reading of yes and no."""
    if isinstance(value, str):
        try:
            return float(value) > 0
        except ValueError:
            return value.lower() == "true"
    if isinstance(value, (int, float)):
        return value > 0
    return bool(value)


def mysql_to_dict(data, key):
    ret, headers = {}, []
    for line in data:
        if not line or not line.startswith("|"):
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not headers:
            headers = cells
        else:
            row = {name: to_value(cell) for name, cell in zip(headers, cells)}
            ret[row[key]] = row
    return ret


def to_value(text):
    return int(text) if text.isdigit() else text


def simple_types_filter(data):
    simple = (bool, str, int, float, datetime.datetime, datetime.date)
    if isinstance(data, (list, tuple)):
        return [simple_types_filter(item) for item in data]
    if isinstance(data, Mapping):
        return {simple_types_filter(key): simple_types_filter(value) for key, value in data.items()}
    return data if data is None or isinstance(data, simple) else repr(data)


def stringify(data):
    return [item if isinstance(item, str) else str(item) for item in data]


def json_query(data, expr):
    import jmespath

    return jmespath.search(expr, data)


def filter_falsey(data, recurse_depth=None, ignore_types=()):
    def keep(value):
        return type(value) in ignore_types or bool(value)

    if isinstance(data, Mapping):
        return type(data)([(key, value) for key, value in data.items() if keep(value)])
    return [value for value in data if keep(value)]


def flatten(data, levels=None, preserve_nulls=False, _ids=None):
    ret = []
    for item in data:
        if isinstance(item, (list, tuple)) and levels != 0:
            ret.extend(flatten(item, None if levels is None else levels - 1, preserve_nulls))
        elif preserve_nulls or item not in ("None", "null", None):
            ret.append(item)
    return ret


def hash(value, algorithm="sha512"):
    import hashlib

    return hashlib.new(algorithm, str(value).encode("utf-8")).hexdigest()


def shuffle(value, seed=None):
    return sample(value, len(value), seed)


def sample(value, size, seed=None):
    import random

    return random.Random(seed).sample(value, size)

