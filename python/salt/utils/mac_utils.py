"""Programs of macOS, run as Salt's helpers run them."""


def _run(cmd):
    from halite_worker import bridge

    return bridge.call("modules", "cmd.run_all", [cmd], {"python_shell": isinstance(cmd, str)})


def _succeed(cmd):
    from salt.exceptions import CommandExecutionError

    found = _run(cmd)
    text = "\n".join(part for part in (found.get("stdout"), found.get("stderr")) if part)
    if found["retcode"] != 0 or "not supported" in text.lower():
        raise CommandExecutionError("Command failed: {}\nReturn code: {}\nOutput: {}".format(cmd, found["retcode"], text))
    return found


def execute_return_success(cmd):
    _succeed(cmd)
    return True


def execute_return_result(cmd):
    return _succeed(cmd)["stdout"]


def parse_return(data):
    for mark in (": ", ":\n"):
        if mark in data:
            return data.split(mark, 1)[1]
    return data


def validate_enabled(enabled):
    if isinstance(enabled, str):
        from salt.exceptions import SaltInvocationError

        if enabled.lower() not in ("on", "off", "yes", "no"):
            raise SaltInvocationError("{} is none of on, off, yes, no, True and False".format(enabled))
        return "on" if enabled.lower() in ("on", "yes") else "off"
    return "on" if enabled else "off"


def confirm_updated(value, check_fun, normalize_ret=False, wait=5):
    import time

    for _ in range(wait):
        state = check_fun()
        if value == (validate_enabled(state) if normalize_ret else state):
            return True
        time.sleep(1)
    return False


def launchctl(sub_cmd, *args, **kwargs):
    found = _succeed(["launchctl", sub_cmd] + list(args))
    return found["stdout"] if kwargs.get("return_stdout") else True
