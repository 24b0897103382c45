"""The resolver's configuration."""
import ipaddress
import os


def parse_resolv(src="/etc/resolv.conf"):
    """Name servers, domain, search list and options of a `resolv.conf`."""
    found = {"nameservers": [], "ip4_nameservers": [], "ip6_nameservers": [], "sortlist": [], "domain": "", "search": [],
             "options": []}
    if not os.path.isfile(src):
        return {}
    with open(src) as handle:
        for line in handle:
            words = line.split("#")[0].split(";")[0].split()
            if len(words) < 2:
                continue
            if words[0] == "nameserver":
                try:
                    address = ipaddress.ip_address(words[1])
                except ValueError:
                    continue
                found["nameservers"].append(address)
                found["ip{}_nameservers".format(address.version)].append(address)
            elif words[0] == "domain":
                found["domain"] = words[1]
            elif words[0] in ("search", "sortlist", "options"):
                found[words[0]] = words[1:]
    if found["domain"] and not found["search"]:
        found["search"] = [found["domain"]]
    return found
