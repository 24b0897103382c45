"""State results."""


def gen_tag(low):
    return "{0[state]}_|-{0[__id__]}_|-{0[name]}_|-{0[fun]}".format(low)


def get_sls_opts(opts, **kwargs):
    """A copy of the options with the environments that a call names."""
    import copy

    found = copy.deepcopy(opts)
    if kwargs.get("saltenv"):
        found["saltenv"] = kwargs["saltenv"]
    elif "saltenv" in kwargs:
        found["saltenv"] = kwargs["saltenv"]
    pillarenv = kwargs.get("pillarenv") or found.get("pillarenv")
    if "pillarenv" in kwargs or found.get("pillarenv_from_saltenv"):
        found["pillarenv"] = pillarenv or (found.get("saltenv") if found.get("pillarenv_from_saltenv") else kwargs.get("pillarenv"))
    return found


def check_result(running, recurse=False, highstate=None):
    """Whether no state of a run failed; what has no result is looked into."""
    if not isinstance(running, dict) or not running:
        return False
    for name, result in running.items():
        if not recurse and not isinstance(result, list if name == "__extend__" else dict):
            return False
        if not isinstance(result, dict):
            continue
        if "result" not in result and not check_result(result, recurse=True, highstate=highstate) or result.get("result") is False:
            return False
    return True


def merge_subreturn(original_return, sub_return, subkey=None):
    """Adds what another state did to a result."""
    if sub_return["result"] is False:
        original_return["result"] = False
    said = sub_return["comment"]
    said = said if isinstance(said, list) else [said]
    before = original_return.setdefault("comment", [])
    if isinstance(before, list):
        before.extend(said)
    else:
        original_return["comment"] = (before + "\n" if before else "") + "\n".join(said)
    if sub_return["changes"]:
        original_return.setdefault("changes", {})[subkey or sub_return["name"]] = sub_return["changes"]
    return original_return
