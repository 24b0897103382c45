"""Packages: when the list of packages has to be fetched again, and versions."""
import os
import re


def _rtag(opts):
    return os.path.join(opts["cachedir"], "pkg_refresh")


def clear_rtag(opts):
    try:
        os.remove(_rtag(opts))
    except OSError:
        pass


def write_rtag(opts):
    try:
        with open(_rtag(opts), "w"):
            pass
    except OSError:
        pass


def is_refresh(opts, refresh):
    from salt.utils.data import is_true

    return bool(is_true(refresh) or refresh is None and os.path.isfile(_rtag(opts)))


def split_comparison(version):
    found = re.match(r"^(<=>|!=|>=|<=|>>|<<|<>|>|<|=)?\s?([^<>=]+)$", version)
    return (found.group(1) or "", found.group(2)) if found else ("", "")


def match_version(desired, available, cmp_func=None, ignore_epoch=False):
    from salt.utils.versions import compare

    oper, version = split_comparison(desired)
    return next((item for item in available if compare(item, oper or "==", version, cmp_func, ignore_epoch)), None)


def check_bundled():
    return False
