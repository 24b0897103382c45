"""Ordered YAML."""
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
