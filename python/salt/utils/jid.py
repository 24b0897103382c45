"""Job ids."""
import datetime
import hashlib
import os

_FORM = "%Y%m%d%H%M%S%f"
_last = None


def gen_jid(opts=None):
    global _last
    now = datetime.datetime.utcnow()
    if not (opts or {}).get("unique_jid"):
        return now.strftime(_FORM)
    if _last is not None and _last >= now:
        now = _last + datetime.timedelta(microseconds=1)
    _last = now
    return "{}_{}".format(now.strftime(_FORM), os.getpid())


def _has_length(jid):
    return len(jid) == 20 or len(jid) > 21 and jid[20] == "_"


def is_jid(jid):
    if not isinstance(jid, str) or not _has_length(jid):
        return False
    try:
        int(jid[:20])
        return True
    except ValueError:
        return False


def jid_to_time(jid):
    jid = str(jid)
    if not _has_length(jid):
        return ""
    month = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()[int(jid[4:6]) - 1]
    return "{}, {} {} {}:{}:{}.{}".format(jid[:4], month, jid[6:8], jid[8:10], jid[10:12], jid[12:14], jid[14:20])


def jid_dir(jid, job_dir=None, hash_type="sha256"):
    digest = hashlib.new(hash_type, str(jid).encode()).hexdigest()
    parts = [digest[:2], digest[2:]]
    return os.path.join(job_dir, *parts) if job_dir is not None else os.path.join(*parts)


def format_job_instance(job):
    found = {
        "Function": job.get("fun", "unknown-function"), "Arguments": list(job.get("arg", [])),
        "Target": job.get("tgt", "unknown-target"), "Target-type": job.get("tgt_type", "list"),
        "User": job.get("user", "root"),
    }
    named = [arg for arg in job.get("arg") or [] if isinstance(arg, dict) and arg.get("__kwarg__") is True]
    for place in [job, job.get("kwargs", {})] + named:
        if "metadata" in place:
            found["Metadata"] = place["metadata"]
            break
    return found


def format_jid_instance(jid, job):
    return dict(format_job_instance(job), StartTime=jid_to_time(jid))


def format_jid_instance_ext(jid, job):
    return dict(format_job_instance(job), JID=jid, StartTime=jid_to_time(jid))
