"""Ways through nested data."""
from salt.defaults import DEFAULT_TARGET_DELIM


def traverse_dict(data, key, default=None, delimiter=DEFAULT_TARGET_DELIM):
    found = data
    try:
        for part in key.split(delimiter):
            found = found[part]
    except (KeyError, IndexError, TypeError):
        return default
    return found


class _NotThere(Exception):
    pass


def _in_list(items, part):
    """The first map of a list that has the key, else the entry of that number."""
    try:
        key = number = int(part)
    except ValueError:
        key, number = part, None
    for item in items:
        if isinstance(item, dict) and key in item:
            return item[key]
    if number is None or not -len(items) <= number < len(items):
        raise _NotThere
    return items[number]


def _in_map(found, part):
    from .args import yamlify_arg

    try:
        return found[part]
    except TypeError:
        raise _NotThere
    except KeyError:
        pass
    # `2` finds the key 2, as it would in YAML.
    read = yamlify_arg(part)
    if read == part:
        raise _NotThere
    try:
        return found[read]
    except (KeyError, TypeError):
        raise _NotThere


def traverse_dict_and_list(data, key, default=None, delimiter=DEFAULT_TARGET_DELIM):
    """The same through lists: an index, or the maps of the list that have the key."""
    parts = key.split(delimiter) if isinstance(key, str) else [key] if isinstance(key, int) else key
    found = data
    try:
        for part in parts:
            found = _in_list(found, part) if isinstance(found, list) else _in_map(found, part)
    except _NotThere:
        return default
    return found
