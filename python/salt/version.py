"""The release of Salt whose behaviour Halite has."""
import functools
import re

__version_info__ = (3006, 27)
__version__ = "3006.27"

_OLD = ("Hydrogen", (2014, 1)), ("Helium", (2014, 7)), ("Lithium", (2015, 5)), ("Beryllium", (2015, 8)), ("Boron", (2016, 3)), \
    ("Carbon", (2016, 11)), ("Nitrogen", (2017, 7)), ("Oxygen", (2018, 3)), ("Fluorine", (2019, 2))
# Elements from number 10 on are the releases from 3000 on.
_NEW = "Neon Sodium Magnesium Aluminium Silicon Phosphorus Sulfur Chlorine Argon Potassium Calcium Scandium Titanium Vanadium " \
       "Chromium Manganese Iron Cobalt Nickel Copper Zinc".split()
_FORM = re.compile(
    r"(?:[^\d]+)?(\d{1,4})(?:\.(\d{1,2}))?(?:\.(\d{0,2}))?(?:\.(\d{0,2}))?(?:(rc|alpha|beta|nb|a|b)(\d+))?"
    r"(?:.*(?:\+|-)(0na|\d+|n/a)(?:-|\.)(g?[a-f0-9]{7,40}))?")


def _number(value):
    """None for what is missing, also as an empty text."""
    return int(value) if value not in (None, "") else None


@functools.total_ordering
class SaltStackVersion:
    """A release, comparable with others, with texts and with tuples."""

    NAMES = dict(_OLD, **{name: (3000 + at,) for at, name in enumerate(_NEW)})
    LNAMES = {name.lower(): info for name, info in NAMES.items()}
    VNAMES = {info: name for name, info in NAMES.items()}

    def __init__(self, major, minor=None, bugfix=None, mbugfix=0, pre_type=None, pre_num=None, noc=0, sha=None):
        self.major, self.minor = int(major), _number(minor)
        if self._counts_minor():
            self.minor = self.minor or 0
        self.bugfix = _number(bugfix)
        if self.bugfix is None and not self._is_new():
            self.bugfix = 0
        self.mbugfix = _number(mbugfix) or 0
        self.pre_type, self.pre_num = pre_type or "", _number(pre_num) or 0
        self.noc = -1 if noc in ("0na", "n/a") else _number(noc) or 0
        self.sha = sha
        self.name = self.VNAMES.get((self.major,) if self._is_new() else (self.major, self.minor))

    def _is_new(self):
        return self.major >= 3000

    def _counts_minor(self):
        return self.major >= 3006

    @classmethod
    def parse(cls, version_string):
        text = version_string.decode() if isinstance(version_string, bytes) else version_string
        if text.lower() in cls.LNAMES:
            return cls.from_name(text)
        found = _FORM.match(text)
        if not found:
            raise ValueError("Unable to parse version string: '{}'".format(version_string))
        return cls(*found.groups())

    @classmethod
    def from_name(cls, name):
        if name.lower() not in cls.LNAMES:
            raise ValueError("Named version '{}' is not known".format(name))
        return cls(*cls.LNAMES[name.lower()])

    @classmethod
    def current_release(cls):
        return cls(__version_info__[0])

    @property
    def info(self):
        if not self._is_new():
            return (self.major, self.minor, self.bugfix, self.mbugfix)
        return (self.major, self.minor) if self.minor or self._counts_minor() else (self.major,)

    @property
    def pre_info(self):
        return self.info + (self.pre_type, self.pre_num)

    @property
    def noc_info(self):
        return self.pre_info + (self.noc,)

    @property
    def full_info(self):
        return self.noc_info + (self.sha,)

    @property
    def string(self):
        text = ".".join(str(part) for part in (self.info if self._is_new() else self.info[:3]))
        text += ".{}".format(self.mbugfix) if self.mbugfix else ""
        text += "{}{}".format(self.pre_type, self.pre_num) if self.pre_type else ""
        return text + ("+{}.{}".format("0na" if self.noc < 0 else self.noc, self.sha) if self.sha else "")

    @property
    def formatted_version(self):
        return "{} ({})".format(self.string, self.name) if self.name else self.string

    def __str__(self):
        return self.string

    def __repr__(self):
        return "<{} {}>".format(type(self).__name__, self.string)

    def _key(self):
        numbers = self.info + (0,) * (4 - len(self.info))
        # A release comes after what preceded it.
        return numbers, self.pre_type or "zzzzz", self.pre_num, self.noc

    def _other(self, other):
        if isinstance(other, SaltStackVersion):
            return other
        if isinstance(other, str):
            return SaltStackVersion.parse(other)
        if isinstance(other, (list, tuple)):
            return SaltStackVersion(*other)
        raise ValueError("Cannot instantiate Version from type '{}'".format(type(other)))

    def __eq__(self, other):
        return self._key() == self._other(other)._key()

    def __lt__(self, other):
        return self._key() < self._other(other)._key()

    def __hash__(self):
        return hash(self._key())


__saltstack_version__ = SaltStackVersion(*__version_info__)
