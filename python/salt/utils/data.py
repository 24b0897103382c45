"""Nested data."""
import copy
import fnmatch
from collections.abc import Mapping, MutableMapping, Sequence

from ._coding import (  # noqa: F401
    decode, decode_dict, decode_list, decode_tuple, encode, encode_dict, encode_list, encode_tuple,
)
from ._diff import recursive_diff  # noqa: F401
from ._match import subdict_match  # noqa: F401
from ._traverse import traverse_dict, traverse_dict_and_list  # noqa: F401


def _changed_case(data, change, same_dicts):
    if hasattr(data, change):
        return getattr(data, change)()
    if isinstance(data, Mapping):
        kind = type(data) if same_dicts else dict
        return kind((_changed_case(key, change, same_dicts), _changed_case(item, change, same_dicts)) for key, item in data.items())
    if isinstance(data, Sequence):
        return type(data)(_changed_case(item, change, same_dicts) for item in data)
    return data


def to_lowercase(data, preserve_dict_class=False):
    return _changed_case(data, "lower", preserve_dict_class)


def to_uppercase(data, preserve_dict_class=False):
    return _changed_case(data, "upper", preserve_dict_class)


class CaseInsensitiveDict(MutableMapping):
    """Keys are compared without regard to case, and kept as they were written last."""

    def __init__(self, init=None, **kwargs):
        self._data = {}
        self.update(init or {}, **kwargs)

    def __setitem__(self, key, value):
        self._data[to_lowercase(key)] = (key, value)

    def __getitem__(self, key):
        return self._data[to_lowercase(key)][1]

    def __delitem__(self, key):
        del self._data[to_lowercase(key)]

    def __iter__(self):
        return iter([key for key, _ in self._data.values()])

    def __len__(self):
        return len(self._data)

    def __eq__(self, other):
        return isinstance(other, Mapping) and dict(self.items_lower()) == dict(CaseInsensitiveDict(other).items_lower())

    def __repr__(self):
        return repr(dict(self.items()))

    def items_lower(self):
        return ((key, value) for key, (_, value) in self._data.items())

    def copy(self):
        return CaseInsensitiveDict(self)


def compare_dicts(old=None, new=None):
    ret = {}
    for key in set(new or {}) | set(old or {}):
        if key not in old:
            ret[key] = {"old": "", "new": new[key]}
        elif key not in new:
            ret[key] = {"new": "", "old": old[key]}
        elif new[key] != old[key]:
            ret[key] = {"old": old[key], "new": new[key]}
    return ret


def compare_lists(old=None, new=None):
    found = {"new": [item for item in new if item not in old], "old": [item for item in old if item not in new]}
    return {side: items for side, items in found.items() if items}


def get_value(obj, path, default=None):
    """Values at a path, of which one part may stand for every key: `{name}`."""
    if not path:
        return [{"value": obj}]
    key, _, rest = path.partition(":")
    if obj is None:
        return [{"value": None}]
    if key.startswith("{") and key.endswith("}"):
        pairs = obj.items() if isinstance(obj, dict) else enumerate(obj) if isinstance(obj, list) else ()
        return [dict(found, **{key[1:-1]: name}) for name, item in pairs for found in get_value(item, rest, default)]
    if not isinstance(obj, dict) or key not in obj:
        return [{"value": default}]
    return get_value(obj[key], rest, default)


def exactly_n(items, amount=1):
    return sum(1 for item in items if item) == amount


def exactly_one(items):
    return exactly_n(items)


def filter_by(lookup_dict, lookup, traverse, merge=None, default="default", base=None):
    """The entry of the first pattern that matches a value in `traverse`, merged with `base` and `merge`."""
    from salt.exceptions import SaltException

    from .dictupdate import update

    wanted = traverse_dict_and_list(traverse, lookup, [])
    values = [str(value) for value in (wanted if isinstance(wanted, list) else [wanted])]
    hits = (lookup_dict[key] for value in values for key in lookup_dict if fnmatch.fnmatchcase(value, str(key)))
    found = next((hit for hit in hits if hit is not None), lookup_dict.get(default, None))
    under = lookup_dict.get(base) if base else None
    if found is None:
        found = under
    elif isinstance(under, Mapping):
        if not isinstance(found, Mapping):
            raise SaltException("filter_by default and look-up values must both be dictionaries.")
        found = update(copy.deepcopy(under), found)
    if not merge:
        return found
    if not isinstance(merge, Mapping):
        raise SaltException("filter_by merge argument must be a dictionary.")
    return merge if found is None else update(copy.deepcopy(found), copy.deepcopy(merge))


def substr_in_list(string_to_search_for, list_to_search):
    return any(string_to_search_for in item for item in list_to_search)


def is_dictlist(data):
    return isinstance(data, list) and all(isinstance(item, dict) and len(item) == 1 for item in data)


def repack_dictlist(data, strict=False, recurse=False, key_cb=None, val_cb=None):
    """`[{a: 1}, {b: 2}]` as one map; an empty one for what has another form."""
    if isinstance(data, str):
        from .yaml import ParserError, safe_load

        try:
            data = safe_load(data)
        except ParserError:
            return {}
    if not isinstance(data, list) or not all(isinstance(item, (str, int, float)) or is_dictlist([item]) for item in data):
        return {}
    key_of = key_cb or (lambda key: key)
    value_of = val_cb or (lambda key, value: value)
    ret = {}
    for item in data:
        if not isinstance(item, dict):
            ret[key_of(item)] = None
            continue
        key, value = next(iter(item.items()))
        nested = is_dictlist(value)
        if nested and strict and not recurse:
            return {}
        ret[key_of(key)] = repack_dictlist(value, recurse=recurse) if nested and recurse else value_of(key, value)
    return ret


def is_list(value):
    return isinstance(value, list)


def is_iter(thing, ignore=(str,)):
    if ignore and isinstance(thing, ignore):
        return False
    try:
        iter(thing)
        return True
    except TypeError:
        return False


def sorted_ignorecase(to_sort):
    return sorted(to_sort, key=str.lower)


def is_true(value=None):
    """Salt's reading of yes and no: a number above 0, the text true, or what Python holds for true."""
    for kind in (int, float):
        try:
            value = kind(value)
        except (TypeError, ValueError):
            continue
    if isinstance(value, (int, float)):
        return value > 0
    return value.lower() == "true" if isinstance(value, str) else bool(value)


def mysql_to_dict(data, key):
    """The table that MySQL's command draws."""
    from .stringutils import to_num

    ret, headers = {}, None
    for line in data:
        if not line or line.startswith("+"):
            continue
        cells = [cell.strip() for cell in line.split("|")][1:]
        if headers is None:
            headers = cells[:-1]
        else:
            row = {name: to_num(cells[at]) for at, name in enumerate(headers)}
            ret[row[key]] = row
    return ret


def simple_types_filter(data):
    """Everything but numbers, texts, lists and maps as its repr."""
    plain = (str, int, float, bool, list, tuple)
    if isinstance(data, (list, tuple)):
        kinds = (dict, list)
        return [simple_types_filter(item) if isinstance(item, kinds) else item if item is None or isinstance(item, plain) else repr(item)
                for item in data]
    if isinstance(data, dict):
        made = {}
        for key, item in data.items():
            name = key if key is None or isinstance(key, plain[:4]) else repr(key)
            nested = isinstance(item, (dict, list, tuple))
            made[name] = simple_types_filter(item) if nested else item if item is None or isinstance(item, plain) else repr(item)
        return made
    return data


def stringify(data):
    return [item if isinstance(item, str) else str(item) for item in data]


def json_query(data, expr):
    try:
        import jmespath
    except ImportError:
        raise RuntimeError("json_query requires jmespath module installed")
    return jmespath.search(expr, data)


def filter_falsey(data, recurse_depth=None, ignore_types=()):
    """Without what is empty; False stays."""
    def inner(value):
        return filter_falsey(value, recurse_depth - 1, ignore_types) if recurse_depth else value

    def stays(value):
        return isinstance(value, bool) or type(value) in ignore_types or bool(value)

    if isinstance(data, dict):
        return type(data)([(key, value) for key, value in ((key, inner(item)) for key, item in data.items()) if stays(value)])
    if is_iter(data):
        return type(data)([value for value in map(inner, data) if stays(value)])
    return data


def flatten(data, levels=None, preserve_nulls=False, _ids=None):
    """Lists in lists as one, without nulls."""
    above = (_ids or set()) | {id(data)}
    if id(data) in (_ids or ()):
        raise RecursionError("Reference cycle detected. Check input list.")
    ret = []
    for item in data:
        if not preserve_nulls and (item is None or item in ("None", "null")):
            continue
        if is_iter(item) and (levels is None or levels >= 1):
            ret.extend(flatten(item, None if levels is None else int(levels) - 1, preserve_nulls, above))
        else:
            ret.append(item)
    return ret


def hash(value, algorithm="sha512"):
    import hashlib

    if algorithm not in hashlib.algorithms_guaranteed:
        from salt.exceptions import SaltException

        raise SaltException("You must specify a valid algorithm.")
    return hashlib.new(algorithm, value.encode("utf-8") if isinstance(value, str) else value).hexdigest()


def sample(value, size, seed=None):
    import random

    return (random if seed is None else random.Random(hash(seed))).sample(value, size)


def shuffle(value, seed=None):
    return sample(value, len(value), seed)
