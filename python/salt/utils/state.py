"""State results."""
from collections.abc import Mapping


def gen_tag(low):
    return "{0[state]}_|-{0[__id__]}_|-{0[name]}_|-{0[fun]}".format(low)


def get_sls_opts(opts, **kwargs):
    import copy

    return dict(copy.deepcopy(opts), **{key: kwargs[key] for key in ("saltenv", "pillarenv") if key in kwargs})


def check_result(running, recurse=False, highstate=None):
    """Whether no state of a run failed."""
    if not isinstance(running, Mapping) or not running:
        return False
    for key, result in running.items():
        if not recurse and not isinstance(result, Mapping):
            return False
        if isinstance(result, Mapping) and result.get("result", True) is False:
            return False
    return True


def merge_subreturn(original_return, sub_return, subkey=None):
    if sub_return["result"] is False or original_return["result"] is not False and sub_return["result"] is None:
        original_return["result"] = sub_return["result"]
    original_return.setdefault("changes", {})
    if sub_return["changes"]:
        if subkey:
            original_return["changes"][subkey] = sub_return["changes"]
        else:
            original_return["changes"].update(sub_return["changes"])
    original_return["comment"] = "\n".join(
        text for text in (original_return.get("comment"), sub_return.get("comment")) if text)
    return original_return
