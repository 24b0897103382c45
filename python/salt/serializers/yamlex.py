"""Ordered YAML."""
import copy
from collections import OrderedDict

import salt.utils.yaml

from . import DeserializationError, SerializationError

available = True


def deserialize(stream_or_string, **options):
    try:
        return salt.utils.yaml.safe_load(stream_or_string)
    except Exception as exc:
        raise DeserializationError(exc)


def serialize(obj, **options):
    try:
        options.setdefault("default_flow_style", True)
        text = salt.utils.yaml.safe_dump(obj, **options)
        if text is not None and text.endswith("\n...\n"):
            return text[:-5]
        return text[:-1] if text else text
    except Exception as exc:
        raise SerializationError(exc)


def merge_recursive(obj_a, obj_b, level=False):
    """Merges down to a level; below it the second value stays, with the keys that only it has."""
    below = level if level is True else max(int(level) - 1, 0)
    if isinstance(obj_a, dict) and isinstance(obj_b, dict):
        merged = OrderedDict(obj_a if level else {})
        merged.update((key, merge_recursive(obj_a[key], value, below) if key in obj_a else value) for key, value in obj_b.items())
        return merged
    if not level or isinstance(obj_b, dict):
        return copy.copy(obj_b)
    found = [] if isinstance(obj_a, dict) else _as_list(obj_a)
    return found + [item for item in _as_list(obj_b) if item not in found]


def _as_list(value):
    return list(value) if isinstance(value, (list, tuple, set)) else [value]
