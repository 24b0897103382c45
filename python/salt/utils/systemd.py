"""systemd."""
import os
import re
import subprocess


def booted(context=None):
    return os.path.isdir("/run/systemd/system")


def offline(context=None):
    return not booted() and os.path.exists("/usr/bin/systemctl")


def version(context=None):
    try:
        text = subprocess.run(["systemctl", "--version"], stdout=subprocess.PIPE, check=False).stdout.decode()
    except OSError:
        return None
    found = re.search(r"\w+ ([0-9]+)", text)
    return int(found.group(1)) if found else None


def has_scope(context=None):
    return booted() and (version() or 0) >= 205


def pid_to_service(pid):
    try:
        with open("/proc/{}/cgroup".format(pid)) as handle:
            found = re.search(r"/([^/]+)\.service", handle.read())
    except OSError:
        return None
    return found.group(1) if found else None


