"""Texts and bytes in nested data, each made the other."""
from collections.abc import Mapping
from datetime import datetime

from .stringutils import to_bytes, to_unicode


class _Walk:
    """Converts what is nested in a value; circles are cut."""

    def __init__(self, convert, keep, preserve_dict_class, preserve_tuples):
        self._convert, self._keep = convert, keep
        self._same_dicts, self._same_tuples = preserve_dict_class, preserve_tuples
        self._open = set()

    def value(self, data):
        if isinstance(data, (Mapping, list, tuple)):
            return self._nested(data)
        try:
            return self._convert(data)
        except TypeError:
            return data
        except UnicodeError:
            if self._keep:
                return data
            raise

    def _nested(self, data):
        if id(data) in self._open:
            return None
        self._open.add(id(data))
        try:
            if isinstance(data, Mapping):
                return self.mapping(data)
            made = [self.value(item) for item in data]
            return tuple(made) if isinstance(data, tuple) and self._same_tuples else made
        finally:
            self._open.discard(id(data))

    def mapping(self, data):
        made = type(data)() if self._same_dicts else {}
        for key, item in data.items():
            made[self.value(key)] = self.value(item)
        return made


def _decoder(encoding, errors, keep, normalize, preserve_dict_class, preserve_tuples):
    def convert(data):
        return data.isoformat() if isinstance(data, datetime) else to_unicode(data, encoding, errors, normalize)

    return _Walk(convert, keep, preserve_dict_class, preserve_tuples)


def decode(data, encoding=None, errors="strict", keep=False, normalize=False, preserve_dict_class=False,
           preserve_tuples=False, to_str=False):
    return _decoder(encoding, errors, keep, normalize, preserve_dict_class, preserve_tuples).value(data)


decode_dict = decode_list = decode


def decode_tuple(data, encoding=None, errors="strict", keep=False, normalize=False, preserve_dict_class=False, to_str=False):
    return decode(tuple(data), encoding, errors, keep, normalize, preserve_dict_class, True)


def encode(data, encoding=None, errors="strict", keep=False, preserve_dict_class=False, preserve_tuples=False):
    return _Walk(lambda value: to_bytes(value, encoding, errors), keep, preserve_dict_class, preserve_tuples).value(data)


encode_dict = encode_list = encode


def encode_tuple(data, encoding=None, errors="strict", keep=False, preserve_dict_class=False):
    return encode(tuple(data), encoding, errors, keep, preserve_dict_class, True)
