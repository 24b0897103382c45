"""Architectures of RPM."""
import collections

pkginfo = collections.namedtuple("PkgInfo", ("name", "version", "arch", "repoid", "install_date", "install_date_time_t"))
ARCHES_64 = ("x86_64", "athlon", "amd64", "ia32e", "ia64", "geode")
ARCHES_32 = ("i386", "i486", "i586", "i686")
ARCHES = ARCHES_64 + ARCHES_32 + ("noarch", "aarch64", "ppc64", "ppc64le", "s390x", "armv7hl", "riscv64")


def get_osarch():
    import platform
    import subprocess

    try:
        done = subprocess.run(["rpm", "--eval", "%{_host_cpu}"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        return done.stdout.decode().strip() or platform.machine()
    except OSError:
        return platform.machine()


def check_32(arch, osarch=None):
    return all(each in ARCHES_32 for each in (osarch or get_osarch(), arch))


def resolve_name(name, arch, osarch=None):
    own = osarch or get_osarch()
    return name if check_32(arch, own) or arch in (own, "noarch") else "{}.{}".format(name, arch)


def parse_pkginfo(line, osarch=None):
    parts = line.split("_|-")
    if len(parts) < 5:
        return None
    name, epoch, version, release, arch = parts[:5]
    whole = version + ("-" + release if release else "")
    if epoch not in ("(none)", "0", ""):
        whole = "{}:{}".format(epoch, whole)
    return pkginfo(resolve_name(name, arch, osarch), whole, arch, parts[5] if len(parts) > 5 else None, None, None)
