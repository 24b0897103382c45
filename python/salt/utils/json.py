"""JSON."""
import json

from json import JSONDecodeError  # noqa: F401


def loads(s, **kwargs):
    kwargs.pop("_json_module", None)
    return json.loads(s, **kwargs)


def dumps(obj, **kwargs):
    kwargs.pop("_json_module", None)
    kwargs.setdefault("ensure_ascii", False)
    return json.dumps(_plain(obj), **kwargs)


def load(fp, **kwargs):
    return loads(fp.read(), **kwargs)


def dump(obj, fp, **kwargs):
    fp.write(dumps(obj, **kwargs))


def _plain(value):
    if isinstance(value, dict):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value.decode("utf-8") if isinstance(value, bytes) else value


def find_json(raw):
    """The first JSON in a text with other lines before it."""
    lines = raw.splitlines()
    for at, line in enumerate(lines):
        if line.strip()[:1] not in ("{", "[", '"') and not line.strip()[:1].isdigit():
            continue
        for end in range(len(lines), at, -1):
            try:
                return json.loads("\n".join(lines[at:end]))
            except ValueError:
                continue
    raise ValueError("No JSON data")


def import_json():
    return json
