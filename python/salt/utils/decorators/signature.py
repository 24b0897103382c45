"""Signatures of wrapped functions."""
import functools
import inspect


def identical_signature_wrapper(original, wrapped):
    @functools.wraps(original)
    def same(*args, **kwargs):
        return wrapped(*args, **kwargs)

    same.__signature__ = inspect.signature(original)
    return same
