"""Addresses of this machine, which Halite knows, and arithmetic with them."""
import fnmatch
import ipaddress
import socket

from ._addresses import (  # noqa: F401
    calc_net, cidr_to_ipv4_netmask, filter_by_networks, gen_mac, get_net_size, get_net_start, get_socket, hex2ip, ip_bracket, ip_host,
    ipaddr, ipv4, ipv6, ipwrap, is_ip, is_ip_filter, is_ipv4, is_ipv4_filter, is_ipv4_subnet, is_ipv6, is_ipv6_filter, is_ipv6_subnet,
    is_loopback, is_subnet, mac2eui64, mac_str_to_bytes, natural_ipv4_netmask, network_hosts, network_size, parse_host_port,
    rpad_ipv4_network, sanitize_host,
)


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


def linux_interfaces():
    return interfaces()


def _get_interfaces():
    return interfaces()


def _clear_interfaces():
    """Nothing is kept between two questions."""


def _entries(proto, interface=None, interface_data=None):
    """Addresses of interfaces whose names match one of the patterns."""
    from .args import split_input

    found = interface_data if isinstance(interface_data, dict) else interfaces()
    patterns = None if interface is None else split_input(interface)
    for name, data in found.items():
        if patterns is None or any(fnmatch.fnmatch(name, pattern) for pattern in patterns):
            yield from data.get(proto, ())
            yield from (entry for entry in data.get("secondary", ()) if entry.get("type") == proto)


def _addresses(proto, interface, include_loopback, interface_data):
    found = {ipaddress.ip_address(entry["address"]) for entry in _entries(proto, interface, interface_data)}
    return [str(address) for address in sorted(found) if include_loopback or not address.is_loopback]


def ip_addrs(interface=None, include_loopback=False, interface_data=None):
    return _addresses("inet", interface, include_loopback, interface_data)


def ip_addrs6(interface=None, include_loopback=False, interface_data=None):
    return _addresses("inet6", interface, include_loopback, interface_data)


_LENGTH = {"inet": "netmask", "inet6": "prefixlen"}


def _networks(proto, interface, include_loopback, verbose, interface_data):
    found = set()
    for entry in _entries(proto, interface, interface_data):
        if entry.get("address") and entry.get(_LENGTH[proto]):
            net = ipaddress.ip_network("{}/{}".format(entry["address"], entry[_LENGTH[proto]]), strict=False)
            if include_loopback or not net.is_loopback:
                found.add(net)
    if not verbose:
        return [str(net) for net in sorted(found)]
    return {str(net): {"address": str(net.network_address), "netmask": str(net.netmask), "num_addresses": net.num_addresses,
                       "prefixlen": net.prefixlen} for net in found}


def ip_networks(interface=None, include_loopback=False, verbose=False, interface_data=None):
    return _networks("inet", interface, include_loopback, verbose, interface_data)


def ip_networks6(interface=None, include_loopback=False, verbose=False, interface_data=None):
    return _networks("inet6", interface, include_loopback, verbose, interface_data)


def _subnets(proto, names):
    known = interfaces()
    chosen = known if names is None else {name: known.get(name, {}) for name in (names if isinstance(names, list) else [names])}
    found = set()
    for entry in _entries(proto, None, chosen):
        bits = entry.get(_LENGTH[proto], 32 if proto == "inet" else 128)
        address = ipaddress.ip_interface("{}/{}".format(entry["address"], bits))
        if not address.is_loopback:
            found.add(address.network)
    return [str(net) for net in sorted(found)]


def subnets(interfaces=None):
    return _subnets("inet", interfaces)


def subnets6():
    return _subnets("inet6", None)


def in_subnet(cidr, addr=None):
    try:
        net = ipaddress.ip_network(cidr)
    except ValueError:
        return False
    if addr is None:
        addr = ip_addrs() + ip_addrs6()
    return any(ipaddress.ip_address(item) in net for item in (addr if isinstance(addr, (list, tuple)) else [addr]))


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
    """Addresses in the order of the resolver."""
    try:
        return [info[4][0] for info in socket.getaddrinfo(host, 0, socket.AF_UNSPEC, socket.SOCK_STREAM)] or None
    except (OSError, UnicodeError):
        return None


def ip_to_host(ip):
    try:
        return socket.gethostbyaddr(ip)[0]
    except (OSError, UnicodeError):
        return None


def is_reachable_host(entity_name):
    try:
        return bool(socket.getaddrinfo(entity_name, 0))
    except socket.gaierror:
        return False


def isportopen(host, port):
    """What connecting gives: 0 when somebody listens."""
    if not 1 <= int(port) <= 65535:
        return False
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as handle:
        return handle.connect_ex((sanitize_host(host), int(port)))


def _of(iface, read):
    known = interfaces()
    if iface in known:
        return read(known[iface])
    return 'Interface "{}" not in available interfaces: "{}"'.format(iface, '", "'.join(known))


def hw_addr(iface):
    return _of(iface, lambda found: found.get("hwaddr", ""))


hwaddr = hw_addr


def interface(iface):
    return _of(iface, lambda found: found.get("inet", ""))


def interface_ip(iface):
    return _of(iface, lambda found: (found.get("inet") or [{}])[0].get("address", ""))


def refresh_dns():
    """The resolver of today's C libraries notices changes itself."""


def dns_check(addr, port=80, safe=False, ipv6=None, attempt_connect=True):
    """An address of the name with which a connection can be made, else the first one."""
    from salt.exceptions import SaltClientError, SaltSystemExit

    families = [{True: socket.AF_INET6, False: socket.AF_INET}.get(ipv6, socket.AF_UNSPEC)] + [socket.AF_INET] * (ipv6 is True)
    found = []
    for family in families:
        try:
            found = found or [info[4][0] for info in socket.getaddrinfo(addr, port, family, socket.SOCK_STREAM)]
        except (OSError, TypeError, UnicodeError):
            continue
    if not found:
        text = "DNS lookup or connection check of '{}' failed.".format(addr)
        raise SaltClientError() if safe else SaltSystemExit(code=42, msg=text)
    return ip_bracket(next((each for each in found if attempt_connect and _answers(each, port)), found[0]))


def _answers(address, port):
    try:
        socket.create_connection((address, port), timeout=2).close()
        return True
    except OSError:
        return False


def active_tcp():
    return _call("network.active_tcp")


def _remotes(side, port):
    return {entry["remote_addr"] for entry in active_tcp().values() if int(entry[side]) == int(port)}


def local_port_tcp(port):
    return _remotes("local_port", port)


def remote_port_tcp(port):
    return _remotes("remote_port", port)


def default_gateway():
    return _call("network.default_route")


def dig(name):
    return _call("network.dig", name)


def ping(host, **kwargs):
    return _call("network.ping", host, **kwargs)
