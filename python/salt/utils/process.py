"""Processes."""
import os


def os_is_running(pid):
    try:
        os.kill(int(pid), 0)
        return True
    except PermissionError:
        return True
    except OSError:
        return False


def appendproctitle(name):
    """Halite names its processes itself."""


def daemonize(*args, **kwargs):
    raise NotImplementedError("a function of an extension cannot become a daemon")
