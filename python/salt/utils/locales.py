"""Names of locales, and encodings of the old days."""
import re
import sys

from .stringutils import to_bytes, to_unicode  # noqa: F401
from .stringutils import to_str as sdecode  # noqa: F401

_FORM = re.compile(r"(?P<language>[^_.@ ]*)(?:_(?P<territory>[^.@ ]*))?(?:\.(?P<codeset>[^@ ]*))?(?:@(?P<modifier>[^ ]*))?(?: (?P<charmap>.*))?$")
_SIGNS = (("language", ""), ("territory", "_"), ("codeset", "."), ("modifier", "@"), ("charmap", " "))


def get_encodings():
    return list(dict.fromkeys(["utf-8", sys.getdefaultencoding(), "latin-1"]))


def split_locale(loc):
    """`de_DE.UTF-8@euro x` by its parts."""
    found = _FORM.match(loc)
    return {name: (found.group(name) if found else None) or "" for name, _ in _SIGNS}


def join_locale(comps):
    return "".join(sign + comps[name] for name, sign in _SIGNS if comps.get(name))


def normalize_locale(loc):
    """As `locale -a` writes it."""
    comps = split_locale(loc)
    return join_locale(dict(comps, territory=comps["territory"].upper(), codeset=comps["codeset"].lower().replace("-", ""), charmap=""))


def sdecode_if_string(value):
    return value.decode("utf-8") if isinstance(value, bytes) else value
