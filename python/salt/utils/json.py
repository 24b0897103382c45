"""JSON."""
import json

from json import JSONDecodeError, JSONEncoder  # noqa: F401


def load(fp, **kwargs):
    return kwargs.pop("_json_module", json).load(fp, **kwargs)


def loads(s, **kwargs):
    return kwargs.pop("_json_module", json).loads(s.decode("utf-8") if isinstance(s, bytes) else s, **kwargs)


def dump(obj, fp, **kwargs):
    kwargs.setdefault("ensure_ascii", False)
    return kwargs.pop("_json_module", json).dump(obj, fp, **kwargs)


def dumps(obj, **kwargs):
    kwargs.setdefault("ensure_ascii", False)
    return kwargs.pop("_json_module", json).dumps(obj, **kwargs)


def find_json(s):
    """The first map or list of JSON in a text with other things around it."""
    decoder = json.JSONDecoder()
    for at, char in enumerate(s):
        if char in "{[":
            try:
                return decoder.raw_decode(s[at:])[0]
            except ValueError:
                continue
    raise ValueError


def import_json():
    return json
