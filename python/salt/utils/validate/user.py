"""Checks of users."""
import re


def valid_username(user):
    """Whether it begins as a name does; at most 32 characters."""
    return isinstance(user, str) and len(user) <= 32 and re.match(r"[a-z_]", user, re.IGNORECASE) is not None
