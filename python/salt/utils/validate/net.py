"""Checks of addresses."""
import ipaddress
import re
import socket


def mac(addr):
    """Six numbers with one kind of separator."""
    return re.match(r"[0-9A-F]{1,2}([-:.])([0-9A-F]{1,2}\1){4}[0-9A-F]{1,2}$", addr, re.IGNORECASE) is not None


def _address(addr, family, longest):
    if not isinstance(addr, str):
        return False
    ip, _, bits = addr.rpartition("/") if "/" in addr else (addr, "", str(longest))
    try:
        socket.inet_pton(family, ip)
        return 1 <= int(bits) <= longest
    except (OSError, ValueError):
        return False


def ipv4_addr(addr):
    return _address(addr, socket.AF_INET, 32)


def ipv6_addr(addr):
    return _address(addr, socket.AF_INET6, 128)


def ip_addr(addr):
    return ipv4_addr(addr) or ipv6_addr(addr)


def netmask(mask):
    try:
        ipaddress.IPv4Network("0.0.0.0/{}".format(mask))
    except ValueError:
        return False
    return isinstance(mask, str)
