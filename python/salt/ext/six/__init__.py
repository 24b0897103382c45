"""The part of `six` that extensions use, for Python 3."""
import builtins
import io
import sys

PY2 = False
PY3 = True
PY34 = True
string_types = (str,)
integer_types = (int,)
class_types = (type,)
text_type = str
binary_type = bytes
unichr = chr
MAXSIZE = sys.maxsize
StringIO = io.StringIO
BytesIO = io.BytesIO
next = advance_iterator = builtins.next
callable = builtins.callable
Iterator = object
print_ = print
exec_ = exec


def iterkeys(mapping, **kwargs):
    return iter(mapping.keys(**kwargs))


def itervalues(mapping, **kwargs):
    return iter(mapping.values(**kwargs))


def iteritems(mapping, **kwargs):
    return iter(mapping.items(**kwargs))


def iterlists(mapping, **kwargs):
    return iter(mapping.lists(**kwargs))


def viewkeys(mapping):
    return mapping.keys()


def viewvalues(mapping):
    return mapping.values()


def viewitems(mapping):
    return mapping.items()


def b(text):
    return text.encode("latin-1")


def u(text):
    return text


def ensure_str(value, encoding="utf-8", errors="strict"):
    return value.decode(encoding, errors) if isinstance(value, bytes) else value


ensure_text = ensure_str


def ensure_binary(value, encoding="utf-8", errors="strict"):
    return value.encode(encoding, errors) if isinstance(value, str) else value


def int2byte(number):
    return bytes((number,))


def byte2int(found):
    return found[0]


def get_function_code(function):
    return function.__code__


def get_function_defaults(function):
    return function.__defaults__


def get_unbound_function(function):
    return function


def reraise(kind, value, trace=None):
    if value is None:
        value = kind()
    raise value.with_traceback(trace)


def raise_from(value, cause):
    raise value from cause


def wraps(wrapped, *args):
    import functools

    return functools.wraps(wrapped)


def with_metaclass(meta, *bases):
    return meta("NewBase", bases or (object,), {})


def add_metaclass(meta):
    def wrap(cls):
        names = {key: value for key, value in cls.__dict__.items() if key not in ("__dict__", "__weakref__")}
        return meta(cls.__name__, cls.__bases__, names)
    return wrap


def python_2_unicode_compatible(cls):
    return cls


from salt._lazy import lazy  # noqa: E402

# `six.moves` without an import of its own.
lazy(__name__)
