"""Users and groups of this machine."""
import getpass
import grp
import os
import pwd


def get_user():
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return getpass.getuser()


def get_specific_user():
    """Who became root with sudo."""
    user = get_user()
    return "sudo_{}".format(os.environ["SUDO_USER"]) if user == "root" and "SUDO_USER" in os.environ else user


def get_uid(user=None):
    if user is None:
        return os.geteuid()
    if isinstance(user, int):
        return user
    try:
        return pwd.getpwnam(user).pw_uid
    except KeyError:
        return None


def get_default_group(user):
    return grp.getgrgid(pwd.getpwnam(user).pw_gid).gr_name


def get_group_list(user, include_default=True):
    """Names of a user's groups; those of a user that does not exist are only where somebody wrote them."""
    try:
        main = pwd.getpwnam(user).pw_gid
        names = {grp.getgrgid(gid).gr_name for gid in os.getgrouplist(user, main)}
        default = get_default_group(user)
    except KeyError:
        names, default = {entry.gr_name for entry in grp.getgrall() if user in entry.gr_mem}, None
    return sorted(name for name in names if include_default or name != default)


def get_group_dict(user=None, include_default=True):
    return {name: grp.getgrnam(name).gr_gid for name in get_group_list(user, include_default)}


def get_gid_list(user, include_default=True):
    return sorted(set(get_group_dict(user, include_default).values()))


def get_gid(group=None):
    try:
        return os.getegid() if group is None else grp.getgrnam(group).gr_gid
    except KeyError:
        return None


def chugid(runas, group=None):
    """Makes this process one of another user."""
    from salt.exceptions import CommandExecutionError

    entry = pwd.getpwnam(runas)
    try:
        gid = grp.getgrnam(group).gr_gid if group else entry.pw_gid
    except KeyError as exc:
        raise CommandExecutionError("Failed to fetch the GID for {}. Error: {}".format(group, exc))
    steps = (
        ("set supplemental groups", lambda: os.setgroups(get_gid_list(runas))),
        ("change the group", lambda: os.setgid(gid)), ("change the user", lambda: os.setuid(entry.pw_uid)),
    )
    for name, step in steps:
        try:
            step()
        except OSError as exc:
            raise CommandExecutionError("Failed to {} for {}. Error: {}".format(name, runas, exc))


def chugid_and_umask(runas, umask, group=None):
    if runas and runas != get_user() or group:
        chugid(runas or get_user(), group)
    if umask is not None:
        os.umask(umask)
