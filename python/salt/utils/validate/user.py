"""Checks of users."""
import re


def valid_username(user):
    return bool(re.match(r"[a-z_][a-z0-9_-]{0,30}[$]?$", str(user)))
