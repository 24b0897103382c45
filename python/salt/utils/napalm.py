"""Network devices of NAPALM: files that need one say why they are not available, as with Salt where NAPALM is missing."""
import functools


def is_proxy(opts):
    return opts.get("proxy", {}).get("proxytype") == "napalm"


def is_minion(opts):
    return not opts.get("proxy") and bool(opts.get("napalm"))


def is_always_alive(opts):
    return opts.get("proxy", {}).get("always_alive", True)


def not_always_alive(opts):
    return is_proxy(opts) and not is_always_alive(opts) or is_minion(opts)


def virtual(opts, virtualname, filename):
    return False, '"{}" ({}) needs a device of NAPALM, which Halite does not manage'.format(virtualname, filename)


def call(napalm_device, method, *args, **kwargs):
    from salt.exceptions import CommandExecutionError

    raise CommandExecutionError("{}: devices of NAPALM are not managed by Halite".format(method))


def proxy_napalm_wrap(func):
    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        return call(None, func.__name__)

    return wrapped


def default_ret(name):
    return {"name": name, "changes": {}, "result": False, "comment": ""}


def loaded_ret(ret, loaded, test, debug, compliance_report=False, opts=None):
    """The result of a state after a configuration was loaded."""
    differs = bool(loaded.get("diff"))
    ret.update(comment=loaded.get("comment") or "", result=loaded.get("result", False))
    if debug and loaded.get("loaded_config"):
        ret["changes"]["loaded"] = loaded["loaded_config"]
    if differs:
        ret["changes"]["diff"] = loaded["diff"]
    if test and differs and ret["result"]:
        ret["result"] = None
    return ret
