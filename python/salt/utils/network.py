"""Addresses of this machine, which Halite knows, and arithmetic with them."""
import ipaddress
import re
import socket
import struct


def _call(name, *args, **kwargs):
    from halite_worker import bridge

    return bridge.call("modules", name, args, kwargs)


def _in_grains():
    from halite_worker import bridge

    now = bridge.frame()
    return now is None or now.kind == "grains"


def interfaces():
    """Names of interfaces with their addresses, in Salt's form. Grains are collected before functions can be called."""
    return _from_ip() if _in_grains() else _call("network.interfaces")


def _from_ip():
    import json
    import shutil
    import subprocess

    program = shutil.which("ip") or "/sbin/ip"
    try:
        done = subprocess.run([program, "-json", "address"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=False)
        listed = json.loads(done.stdout.decode("utf-8", "replace") or "[]")
    except (OSError, ValueError):
        return {}
    return {entry["ifname"]: _interface(entry) for entry in listed if "ifname" in entry}


def _interface(entry):
    found = {"up": "UP" in entry.get("flags", ())}
    if entry.get("address"):
        found["hwaddr"] = entry["address"]
    for address in entry.get("addr_info", ()):
        if address.get("family") == "inet":
            mask = cidr_to_ipv4_netmask(address["prefixlen"])
            found.setdefault("inet", []).append({"address": address["local"], "netmask": mask, "broadcast": address.get("broadcast"),
                                                 "label": address.get("label", entry["ifname"])})
        elif address.get("family") == "inet6":
            found.setdefault("inet6", []).append({"address": address["local"], "prefixlen": str(address["prefixlen"]),
                                                  "scope": address.get("scope", "")})
    return found


def _get_interfaces():
    return interfaces()


def _clear_interfaces():
    """Nothing is kept between two questions."""


def _of(interface, interface_data):
    found = interface_data if isinstance(interface_data, dict) else interfaces()
    return [data for name, data in found.items() if interface is None or name == interface]


def _addresses(proto, interface, include_loopback, interface_data):
    found = {ipaddress.ip_address(entry["address"]) for data in _of(interface, interface_data) for entry in data.get(proto, ())}
    return [str(address) for address in sorted(found) if include_loopback or not address.is_loopback]


def ip_addrs(interface=None, include_loopback=False, interface_data=None):
    return _addresses("inet", interface, include_loopback, interface_data)


def ip_addrs6(interface=None, include_loopback=False, interface_data=None):
    return _addresses("inet6", interface, include_loopback, interface_data)


def subnets(interfaces=None):
    names = [interfaces] if isinstance(interfaces, str) else interfaces
    chosen = [data for name in names for data in _of(name, None)] if names else _of(None, None)
    found = {ipaddress.ip_interface("{}/{}".format(entry["address"], entry["netmask"])) for data in chosen for entry in data.get("inet", ())}
    return [str(net) for net in sorted({item.network for item in found if not item.is_loopback})]


def in_subnet(cidr, addr=None):
    try:
        net = ipaddress.ip_network(cidr)
    except ValueError:
        return False
    found = [addr] if addr else ip_addrs()
    return any(ipaddress.ip_address(item) in net for item in found)


def get_fqhostname():
    """The canonical name of this host: what the resolver calls it, else what its addresses are called."""
    try:
        found = socket.getaddrinfo(socket.gethostname(), 0, type=socket.SOCK_STREAM, flags=socket.AI_CANONNAME)
    except OSError:
        found = []
    names = [entry[3] for entry in found if entry[3]]
    return names[-1] if names else socket.getfqdn()


def get_hostname():
    return socket.gethostname()


def hostname():
    return socket.gethostname()


def generate_minion_id():
    name = get_fqhostname()
    return socket.gethostname() if name.startswith("localhost") else name


def host_to_ips(host):
    try:
        return sorted({info[4][0] for info in socket.getaddrinfo(host, 0, socket.AF_UNSPEC, socket.SOCK_STREAM)})
    except OSError:
        return None


def hw_addr(iface):
    found = interfaces().get(iface)
    return found.get("hwaddr", "") if found else 'Interface "{}" not available'.format(iface)


hwaddr = hw_addr


def interface(iface):
    return interfaces().get(iface, {}).get("inet", 'Interface "{}" not in available interfaces'.format(iface))


def interface_ip(iface):
    inet = interfaces().get(iface, {}).get("inet")
    return inet[0].get("address", "") if inet else ""


def is_ip(ip_addr):
    return is_ipv4(ip_addr) or is_ipv6(ip_addr)


def _fits(kind, text):
    try:
        kind(str(text))
        return True
    except ValueError:
        return False


def is_ipv4(ip_addr):
    return _fits(ipaddress.IPv4Address, ip_addr)


def is_ipv6(ip_addr):
    return _fits(ipaddress.IPv6Address, ip_addr)


is_ipv4_filter, is_ipv6_filter = is_ipv4, is_ipv6


def is_subnet(cidr):
    return "/" in str(cidr) and _fits(ipaddress.ip_network, cidr)


is_ipv4_subnet = is_ipv6_subnet = is_subnet


def is_loopback(ip_addr):
    return ipaddress.ip_address(ip_addr).is_loopback


def is_private(ip_addr):
    return ipaddress.ip_address(ip_addr).is_private


def calc_net(ip_addr, netmask=None):
    text = "{}/{}".format(ip_addr, netmask) if netmask is not None else ip_addr
    return str(ipaddress.ip_network(text, strict=False))


def cidr_to_ipv4_netmask(cidr_bits):
    try:
        bits = int(cidr_bits)
    except (TypeError, ValueError):
        return ""
    return socket.inet_ntoa(struct.pack(">I", (0xFFFFFFFF << (32 - bits)) & 0xFFFFFFFF)) if 1 <= bits <= 32 else ""


def get_net_start(ipaddr, netmask):
    return str(ipaddress.ip_network("{}/{}".format(ipaddr, netmask), strict=False).network_address)


def get_net_size(mask):
    return "".join("{:08b}".format(int(part)) for part in mask.split(".")).rstrip("0").count("1")


def natural_ipv4_netmask(ip, fmt="prefixlen"):
    first = int(ip.split(".")[0])
    bits = 8 if first < 128 else 16 if first < 192 else 24
    return "/{}".format(bits) if fmt == "prefixlen" else cidr_to_ipv4_netmask(bits)


def mac2eui64(mac, prefix=None):
    octets = [int(part, 16) for part in re.split("[:-]", mac)]
    octets[0] ^= 2
    full = octets[:3] + [0xFF, 0xFE] + octets[3:]
    eui = ":".join("{:02x}{:02x}".format(full[at], full[at + 1]) for at in range(0, 8, 2))
    if prefix is None:
        return re.sub("(:0000)+:", "::", eui)
    net = ipaddress.ip_network(prefix, strict=False)
    return "{}/{}".format(net[int.from_bytes(bytes(full), "big")], net.prefixlen)


def sanitize_host(host, underscore_ok=False):
    return "".join(char for char in host if char.isalnum() or char in ".-" or underscore_ok and char == "_")


def dns_check(addr, port=80, safe=False, ipv6=None, attempt_connect=True):
    found = host_to_ips(addr)
    if found:
        return found[0]
    from salt.exceptions import SaltSystemExit

    raise SaltSystemExit(42, "Attempt to authenticate with {} failed: DNS lookup".format(addr))


def active_tcp():
    return _call("network.active_tcp")


def default_gateway():
    return _call("network.default_route")


def dig(name):
    return _call("network.dig", name)


def ping(host, **kwargs):
    return _call("network.ping", host, **kwargs)


def parse_host_port(text):
    host, _, port = text.strip("[]").rpartition(":") if text.count(":") == 1 or "]:" in text else (text, "", "")
    return host.strip("[]"), int(port) if port else None
