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


get_specific_user = get_user


def get_uid(user=None):
    if user is None:
        return os.geteuid()
    if isinstance(user, int):
        return user
    try:
        return pwd.getpwnam(user).pw_uid
    except KeyError:
        return None


def get_group_list(user, include_default=True):
    names = [entry.gr_name for entry in grp.getgrall() if user in entry.gr_mem]
    main = grp.getgrgid(pwd.getpwnam(user).pw_gid).gr_name
    if main not in names and include_default:
        names.append(main)
    return sorted(name for name in names if include_default or name != main)


def get_group_dict(user=None, include_default=True):
    names = get_group_list(user, include_default) if user else [entry.gr_name for entry in grp.getgrall()]
    return {name: grp.getgrnam(name).gr_gid for name in names}


def get_gid_list(user, include_default=True):
    return sorted(get_group_dict(user, include_default).values())


def get_gid(group=None):
    try:
        return os.getegid() if group is None else group if isinstance(group, int) else grp.getgrnam(group).gr_gid
    except KeyError:
        return None


def chugid(runas, group=None):
    entry = pwd.getpwnam(runas)
    gid = grp.getgrnam(group).gr_gid if group else entry.pw_gid
    os.setgroups(get_gid_list(runas))
    os.setgid(gid)
    os.setuid(entry.pw_uid)


def chugid_and_umask(runas, umask, group=None):
    if runas and runas != get_user():
        chugid(runas, group)
    if umask is not None:
        os.umask(umask)
