"""Which system this is."""
import os
import sys


def is_windows():
    return sys.platform.startswith("win")


def is_linux():
    return sys.platform.startswith("linux")


def is_darwin():
    return sys.platform.startswith("darwin")


def is_sunos():
    return sys.platform.startswith("sunos")


def is_freebsd():
    return sys.platform.startswith("freebsd")


def is_netbsd():
    return sys.platform.startswith("netbsd")


def is_openbsd():
    return sys.platform.startswith("openbsd")


def is_aix():
    return sys.platform.startswith("aix")


def is_proxy():
    from halite_worker import bridge

    return "proxy" in bridge.opts()


def is_smartos():
    return is_sunos() and os.uname()[3].startswith("joyent_")


def is_smartos_globalzone():
    return False


is_smartos_zone = is_junos = is_photonos = is_smartos_globalzone


def is_fedora():
    try:
        with open("/etc/os-release") as handle:
            return any(line.strip() in ("ID=fedora", 'ID="fedora"') for line in handle)
    except OSError:
        return False


def is_aarch64():
    return os.uname()[4].startswith("aarch64")


def spawning_platform():
    return False


def get_machine_identifier():
    for path in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
        try:
            with open(path) as handle:
                return {"machine_id": handle.read().strip()}
        except OSError:
            continue
    return {}
