"""The file of the flat roster."""
import os


def get_roster_file(options):
    """The one that is set, else `roster` beside the configuration, else the one in /etc/salt."""
    from salt.exceptions import SaltSystemExit

    told = options.get("roster_file")
    beside = os.path.join(os.path.dirname(str(options.get("conf_file") or "/etc/salt/master")), "roster")
    found = told or (beside if os.path.isfile(beside) else "/etc/salt/roster")
    if not os.access(found, os.R_OK):
        raise SaltSystemExit("the roster {} cannot be read".format(found))
    return found
