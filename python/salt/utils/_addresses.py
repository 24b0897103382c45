"""Arithmetic with addresses, and the filters of templates for them."""
import ipaddress
import random
import re
import socket
import string
from collections.abc import Mapping, Sequence
from types import GeneratorType


def sanitize_host(host, underscore_ok=False):
    if _parsed(ipaddress.ip_address, host) is not None:
        return host
    return "".join(char for char in host[:255] if char in string.ascii_letters + string.digits + ".-_")


def _parsed(kind, value, **options):
    try:
        return kind(value, **options)
    except (TypeError, ValueError):
        return None


def is_ip(ip_addr):
    return _parsed(ipaddress.ip_address, ip_addr) is not None


def is_ipv4(ip_addr):
    return getattr(_parsed(ipaddress.ip_address, ip_addr), "version", None) == 4


def is_ipv6(ip_addr):
    return getattr(_parsed(ipaddress.ip_address, ip_addr), "version", None) == 6


def is_loopback(ip_addr):
    found = _parsed(ipaddress.ip_address, ip_addr)
    return found is not None and found.is_loopback


def is_ipv4_subnet(cidr):
    return isinstance(cidr, str) and "/" in cidr and _parsed(ipaddress.IPv4Network, cidr) is not None


def is_ipv6_subnet(cidr):
    return isinstance(cidr, str) and "/" in cidr and _parsed(ipaddress.IPv6Network, cidr) is not None


def is_subnet(cidr):
    return is_ipv4_subnet(cidr) or is_ipv6_subnet(cidr)


_OPTIONS = {
    "global": lambda address: not address.is_private, "link-local": lambda address: address.is_link_local,
    "loopback": lambda address: address.is_loopback, "multicast": lambda address: address.is_multicast,
    "private": lambda address: address.is_private, "reserved": lambda address: address.is_reserved,
    "site-local": lambda address: getattr(address, "is_site_local", False), "unspecified": lambda address: address.is_unspecified,
}
_OPTIONS.update(
    public=_OPTIONS["global"], linklocal=_OPTIONS["link-local"], ll=_OPTIONS["link-local"], link_local=_OPTIONS["link-local"],
    lo=_OPTIONS["loopback"], sl=_OPTIONS["site-local"], site_local=_OPTIONS["site-local"],
)


def _one(value, version, options):
    """The address or interface as text, when it is of that version and all options hold."""
    found = _parsed(ipaddress.ip_address, value)
    found = _parsed(ipaddress.ip_interface, value) if found is None else found
    if found is None or found.version != version:
        return None
    wanted = [option.strip() for option in (options or "").split(",")]
    return str(found) if all(test(found) for name, test in _OPTIONS.items() if name in wanted) else None


def is_ipv4_filter(ip_addr, options=None):
    return _one(ip_addr, 4, options) is not None


def is_ipv6_filter(ip_addr, options=None):
    return _one(ip_addr, 6, options) is not None


def is_ip_filter(ip_addr, options=None):
    return is_ipv4_filter(ip_addr, options) or is_ipv6_filter(ip_addr, options)


def _of_version(value, version, options):
    if isinstance(value, (str, bytes)):
        return _one(value, version, options)
    if isinstance(value, (list, tuple, GeneratorType)):
        return [found for found in (_one(item, version, options) for item in value) if found is not None]
    return None


def ipv4(value, options=None):
    return _of_version(value, 4, options)


def ipv6(value, options=None):
    return _of_version(value, 6, options)


def ipaddr(value, options=None):
    value = list(value) if isinstance(value, GeneratorType) else value
    four, six = ipv4(value, options), ipv6(value, options)
    return four or six if four is None or six is None else four + six


def _each(value, options, version, use):
    """Applies a function to the addresses of a value: one or a list."""
    found = {4: ipv4, 6: ipv6}.get(version, ipaddr)(value, options)
    if not found:
        return None
    return [use(item) for item in found] if isinstance(value, (list, tuple, GeneratorType)) else use(found)


def ip_host(value, options=None, version=None):
    return _each(value, options, version, lambda item: str(ipaddress.ip_interface(item)))


def network_hosts(value, options=None, version=None):
    return _each(value, options, version, lambda item: [str(host) for host in ipaddress.ip_network(item, strict=False).hosts()])


def network_size(value, options=None, version=None):
    return _each(value, options, version, lambda item: ipaddress.ip_network(item, strict=False).num_addresses)


def calc_net(ipaddr, netmask=None):
    text = ipaddr if netmask is None else "{}/{}".format(ipaddr, netmask)
    return str(ipaddress.ip_network(text, strict=False))


def cidr_to_ipv4_netmask(cidr_bits):
    try:
        bits = int(cidr_bits)
    except ValueError:
        return ""
    return str(ipaddress.IPv4Address((1 << 32) - (1 << 32 - bits))) if 1 <= bits <= 32 else ""


def get_net_start(ipaddr, netmask):
    return str(ipaddress.ip_network("{}/{}".format(ipaddr, netmask), strict=False).network_address)


def get_net_size(mask):
    return len("".join("{:08b}".format(int(part)) for part in mask.split(".")).rstrip("0"))


def natural_ipv4_netmask(ip_addr, fmt="prefixlen"):
    first = int(ip_addr.split(".")[0])
    bits = 8 if first < 128 else 16 if first < 192 else 24
    return cidr_to_ipv4_netmask(bits) if fmt == "netmask" else "/{}".format(bits)


def rpad_ipv4_network(ip_addr):
    return ".".join((ip_addr.split(".") + ["0"] * 4)[:4])


def hex2ip(hex_ip, invert=False):
    """The address of hexadecimal digits; with `invert` those of /proc/net. Anything else stays."""
    try:
        data = bytes.fromhex(hex_ip if len(hex_ip) == 32 else "{:08x}".format(int(hex_ip, 16) & 0xFFFFFFFF))
    except ValueError:
        return hex_ip
    if invert:
        data = b"".join(data[at:at + 4][::-1] for at in range(0, len(data), 4))
    address = ipaddress.ip_address(data)
    return str(getattr(address, "ipv4_mapped", None) or address)


def mac2eui64(mac, prefix=None):
    octets = bytes.fromhex(re.sub("[.:-]", "", mac))
    eui = bytes([octets[0] | 2]) + octets[1:3] + b"\xff\xfe" + octets[3:]
    if prefix is None:
        return ":".join(re.findall("....", eui.hex()))
    try:
        net = ipaddress.ip_network(prefix, strict=False)
        return "{}/{}".format(net[int.from_bytes(eui, "big")], net.prefixlen)
    except (IndexError, ValueError):
        return None


def gen_mac(prefix="AC:DE:48"):
    return ":".join([prefix] + ["{:02X}".format(random.randint(0, 255)) for _ in range(3)])


def mac_str_to_bytes(mac_str):
    if len(mac_str) not in (12, 17):
        raise ValueError("Invalid MAC address")
    return bytes.fromhex(mac_str if len(mac_str) == 12 else mac_str.replace(mac_str[2], ""))


def filter_by_networks(values, networks):
    """Those addresses that lie in one of the networks."""
    if networks is None:
        return values
    nets = [ipaddress.ip_network(network) for network in networks]

    def inside(ips):
        return [ip for ip in ips for net in nets if ipaddress.ip_address(ip) in net]

    if isinstance(values, Mapping):
        return {name: inside(ips) for name, ips in values.items()}
    if isinstance(values, Sequence):
        return inside(values)
    raise ValueError("Do not know how to filter a {}".format(type(values)))


def ip_bracket(addr, strip=False):
    address = ipaddress.ip_address(str(addr).lstrip("[").rstrip("]"))
    return "[{}]".format(address) if address.version == 6 and not strip else str(address)


def ipwrap(data):
    def wrapped(item):
        return ip_bracket(item) if _one(item, 6, None) else item

    return [wrapped(item) for item in data] if isinstance(data, (list, tuple)) else wrapped(data)


def parse_host_port(host_port):
    """The host, and the port or None."""
    if host_port.startswith("["):
        host, _, rest = host_port[1:].rpartition("]")
        if rest and not rest.startswith(":"):
            raise ValueError('found ambiguous "{}" port in "{}"'.format(rest, host_port))
        return ipaddress.IPv6Address(host).compressed, int(rest[1:]) if rest else None
    host, port = host_port, None
    if host_port.count(":") == 1:
        host, _, word = host_port.partition(":")
        try:
            port = int(word)
        except ValueError:
            raise ValueError('host_port "{}" port value "{}" is not an integer.'.format(host_port, word))
    address = _parsed(ipaddress.ip_address, host)
    if address is None and host != sanitize_host(host):
        raise ValueError('bad hostname: "{}"'.format(host))
    return address.compressed if address is not None else host, port


def get_socket(addr, type=socket.SOCK_STREAM, proto=0):
    six = ipaddress.ip_address(addr).version == 6
    return socket.socket(socket.AF_INET6 if six else socket.AF_INET, type, proto)
