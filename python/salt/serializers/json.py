"""JSON."""
import salt.utils.json

from . import DeserializationError, SerializationError

available = True


def deserialize(stream_or_string, **options):
    try:
        if hasattr(stream_or_string, "read"):
            stream_or_string = stream_or_string.read()
        if isinstance(stream_or_string, bytes):
            stream_or_string = stream_or_string.decode("utf-8")
        return salt.utils.json.loads(stream_or_string, **options)
    except Exception as exc:
        raise DeserializationError(exc)


def serialize(obj, **options):
    try:
        if "fp" in options:
            return salt.utils.json.dump(obj, **options)
        return salt.utils.json.dumps(obj, **options)
    except Exception as exc:
        raise SerializationError(exc)
