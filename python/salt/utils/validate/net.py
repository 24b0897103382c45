"""Checks of addresses."""
import ipaddress
import re


def mac(addr):
    return bool(re.match(r"([0-9A-F]{1,2}[:-]){5}[0-9A-F]{1,2}$", str(addr), re.IGNORECASE))


def _fits(kind, addr):
    try:
        kind(str(addr))
        return True
    except ValueError:
        return False


def ipv4_addr(addr):
    return _fits(ipaddress.IPv4Interface, addr)


def ipv6_addr(addr):
    return _fits(ipaddress.IPv6Interface, addr)


def ip_addr(addr):
    return ipv4_addr(addr) or ipv6_addr(addr)


def netmask(mask):
    try:
        bits = "".join("{:08b}".format(int(part)) for part in str(mask).split("."))
    except ValueError:
        return False
    return len(bits) == 32 and "01" not in bits
