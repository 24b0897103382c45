"""Checks of paths."""
import os


def is_writeable(path, check_parent=False):
    if os.path.lexists(path) or not check_parent:
        return os.access(path, os.W_OK)
    return os.access(os.path.dirname(path), os.W_OK)


def is_readable(path):
    return os.access(path, os.R_OK)


def is_executable(path):
    return os.access(path, os.X_OK)
