"""Comparing versions."""
import functools
import re
import warnings


class Version:
    """A version as packages of Python have it, comparable."""

    def __init__(self, vstring=None):
        self.vstring = str(vstring)
        self.version = [int(part) if part.isdigit() else part for part in re.findall(r"\d+|[a-z]+", self.vstring.lower())]

    parse = __init__

    def __str__(self):
        return self.vstring

    def __repr__(self):
        return "{}('{}')".format(type(self).__name__, self.vstring)

    def _key(self):
        return [(1, part, "") if isinstance(part, int) else (0, 0, part) for part in self.version]

    def _other(self, other):
        return other if isinstance(other, Version) else type(self)(other)

    def __eq__(self, other):
        return self._key() == self._other(other)._key()

    def __lt__(self, other):
        return self._key() < self._other(other)._key()

    def __le__(self, other):
        return self._key() <= self._other(other)._key()

    def __gt__(self, other):
        return self._key() > self._other(other)._key()

    def __ge__(self, other):
        return self._key() >= self._other(other)._key()

    def __hash__(self):
        return hash(self.vstring)


class LooseVersion(Version):
    """The same with any text."""


class StrictVersion(Version):
    """The same."""


def version_cmp(pkg1, pkg2, ignore_epoch=False):
    def normal(text):
        text = str(text)
        return text.split(":", 1)[-1] if ignore_epoch else text

    first, second = LooseVersion(normal(pkg1)), LooseVersion(normal(pkg2))
    return (first > second) - (first < second)


def compare(ver1="", oper="==", ver2="", cmp_func=None, ignore_epoch=False):
    found = (cmp_func or functools.partial(version_cmp, ignore_epoch=ignore_epoch))(ver1, ver2)
    if found is None:
        return oper == "!="
    return {
        "==": found == 0, "!=": found != 0, "<": found < 0, "<=": found <= 0, ">": found > 0, ">=": found >= 0,
    }[oper]


def warn_until(version, message, category=DeprecationWarning, **kwargs):
    warnings.warn(str(message).format(version=version, date=version), category, stacklevel=2)


warn_until_date = warn_until


def kwargs_warn_until(kwargs, version, category=DeprecationWarning, **options):
    if kwargs:
        names = ", ".join("'{}'".format(name) for name in kwargs)
        warn_until(version, "The following parameter(s) have been deprecated: {}".format(names), category)


def check_boto_reqs(boto_ver=None, boto3_ver=None, botocore_ver=None, check_boto=True, check_boto3=True):
    try:
        if check_boto3:
            import boto3  # noqa: F401
        if check_boto:
            import boto  # noqa: F401
    except ImportError:
        return False, "The boto libraries cannot be imported"
    return True


