"""msgpack, when the library is there."""
from . import DeserializationError, SerializationError

try:
    import msgpack
except ImportError:
    msgpack = None
available = msgpack is not None


def serialize(obj, **options):
    try:
        return msgpack.packb(obj, **options)
    except Exception as exc:
        raise SerializationError(exc)


def deserialize(stream_or_string, **options):
    try:
        return msgpack.unpackb(stream_or_string, **options)
    except Exception as exc:
        raise DeserializationError(exc)
