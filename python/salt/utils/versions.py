"""Comparing versions."""
import datetime
import functools
import re
import sys
import warnings

from ._pep440 import Version, parse  # noqa: F401


@functools.total_ordering
class LooseVersion:
    """Numbers and words of any text, comparable."""

    _parts = re.compile(r"(\d+ | [a-z]+ | \.)", re.VERBOSE)

    def __init__(self, vstring=None):
        self.version = []
        if vstring:
            self.parse(vstring)

    def parse(self, vstring):
        self.vstring = vstring
        parts = [part for part in self._parts.split(vstring) if part and part != "."]
        self.version = [int(part) if part.isdigit() else part for part in parts]

    def __str__(self):
        return self.vstring

    def __repr__(self):
        return "{} ('{}')".format(type(self).__name__, self)

    def _pair(self, other):
        """Numbers, or with a word in either of them texts: those of numbers have eight digits."""
        both = [self.version, (LooseVersion(other) if isinstance(other, str) else other).version]
        if all(isinstance(part, int) for parts in both for part in parts):
            return both
        return [[str(part).zfill(8) if isinstance(part, int) else part for part in parts] for parts in both]

    def __eq__(self, other):
        if not isinstance(other, (str, LooseVersion)):
            return NotImplemented
        mine, theirs = self._pair(other)
        return mine == theirs

    def __lt__(self, other):
        if not isinstance(other, (str, LooseVersion)):
            return NotImplemented
        mine, theirs = self._pair(other)
        return mine < theirs

    def __hash__(self):
        return hash(str(self.version))


class StrictVersion(Version):
    """The old name."""


def version_cmp(pkg1, pkg2, ignore_epoch=False):
    def normal(text):
        return str(text).split(":", 1)[-1] if ignore_epoch else str(text)

    first, second = LooseVersion(normal(pkg1)), LooseVersion(normal(pkg2))
    return (first > second) - (first < second)


_FITS = {"<": (-1,), "<=": (-1, 0), "==": (0,), ">=": (0, 1), ">": (1,), "!=": (-1, 1)}


def compare(ver1="", oper="==", ver2="", cmp_func=None, ignore_epoch=False):
    if oper not in _FITS:
        return False
    found = (cmp_func or version_cmp)(ver1, ver2, ignore_epoch=ignore_epoch)
    if not isinstance(found, int):
        return False
    return (found > 0) - (found < 0) in _FITS[oper]


def _release(version):
    from salt.version import SaltStackVersion

    if isinstance(version, SaltStackVersion):
        return version
    if isinstance(version, (int, tuple)):
        return SaltStackVersion(*(version if isinstance(version, tuple) else (version,)))
    if isinstance(version, str) and version.lower() in SaltStackVersion.LNAMES:
        return SaltStackVersion.from_name(version)
    raise RuntimeError("'{}' is not a release of Salt: a name, a number, a tuple or a SaltStackVersion".format(version))


def warn_until(version, message, category=DeprecationWarning, stacklevel=None, _version_info_=None, _dont_call_warnings=False):
    """A warning; from that release on it is also printed, as somebody should have removed it."""
    from salt.version import SaltStackVersion, __version_info__

    until, now = _release(version), SaltStackVersion(*(_version_info_ or __version_info__))
    text = message.format(version=until.formatted_version)
    if now >= until:
        sys.stderr.write("{} (to be removed in {}, this is {})\n".format(text, until.formatted_version, now.formatted_version))
    if not _dont_call_warnings:
        warnings.warn(text, category, stacklevel=stacklevel or 2)


def warn_until_date(date, message, category=DeprecationWarning, stacklevel=None, _current_date=None, _dont_call_warnings=False):
    if isinstance(date, str):
        date = datetime.datetime.strptime(date, "%Y%m%d")
    if isinstance(date, datetime.datetime):
        date = date.date()
    if not isinstance(date, datetime.date):
        raise RuntimeError("The date has to be a date, or a text of the form 20260131")
    if not _dont_call_warnings:
        today = _current_date or datetime.datetime.utcnow().date()
        warnings.warn(message.format(date=date.isoformat(), today=today.isoformat()), category, stacklevel=stacklevel or 2)


def kwargs_warn_until(kwargs, version, category=DeprecationWarning, stacklevel=None, _version_info_=None, _dont_call_warnings=False):
    until = _release(version)
    if kwargs or not _dont_call_warnings and _is_over(until, _version_info_):
        names = ", ".join("'{}'".format(name) for name in sorted(kwargs))
        text = "The following parameter(s) have been deprecated and will be removed in '{}': {}.".format(until.string, names)
        warn_until(until, text, category, (stacklevel or 2) + 1, _version_info_, _dont_call_warnings)


def _is_over(until, now):
    from salt.version import SaltStackVersion, __version_info__

    return SaltStackVersion(*(now or __version_info__)) >= until


def check_boto_reqs(boto_ver=None, boto3_ver=None, botocore_ver=None, check_boto=True, check_boto3=True):
    """True, or False with the library that is missing or too old."""
    wanted = [("boto", boto_ver or "2.0.0")] if check_boto is True else []
    if check_boto3 is True:
        wanted += [("boto3", boto3_ver or "1.2.6"), ("botocore", botocore_ver or "1.3.23")]
    for name, oldest in wanted:
        try:
            found = __import__(name).__version__
        except ImportError:
            found = None
        if found is None or version_cmp(found, oldest) < 0:
            return False, "A minimum version of {} {} is required.".format(name, oldest)
    return True
