"""Serializers: each module has `serialize` and `deserialize`."""


class SerializationError(RuntimeError):
    """The value has no such form."""


class DeserializationError(RuntimeError):
    """The text has not that form."""
