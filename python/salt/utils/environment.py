"""Environment variables."""
import os


def get_module_environment(env=None, function=None):
    from halite_worker import bridge

    found = bridge.opts().get("system-environment") or {}
    return dict(found) if isinstance(found, dict) else {}


def get_environ():
    return dict(os.environ)
