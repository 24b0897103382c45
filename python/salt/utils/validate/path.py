"""Checks of paths."""
import os


def is_writeable(path, check_parent=False):
    return os.access(path, os.W_OK) or bool(
        check_parent and not os.path.exists(path) and os.access(os.path.dirname(path) or ".", os.W_OK))


def is_readable(path):
    return os.access(path, os.R_OK)


def is_executable(path):
    return os.access(path, os.X_OK)
