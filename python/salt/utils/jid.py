"""Job ids."""
import datetime
import hashlib
import os


def gen_jid(opts=None):
    return datetime.datetime.now().strftime("%Y%m%d%H%M%S%f")


def is_jid(jid):
    return isinstance(jid, str) and (len(jid) == 20 or len(jid) > 20 and jid[20] == "_") and jid[:20].isdigit()


def jid_to_time(jid):
    jid = str(jid)
    if not is_jid(jid):
        return ""
    return "{}, {} {} {}:{}:{}.{}".format(
        jid[:4], datetime.datetime.strptime(jid[4:6], "%m").strftime("%b"), jid[6:8], jid[8:10], jid[10:12], jid[12:14],
        jid[14:20],
    )


def jid_dir(jid, job_dir=None, hash_type="sha256"):
    digest = hashlib.new(hash_type, str(jid).encode()).hexdigest()
    parts = [digest[:2], digest[2:]]
    return os.path.join(job_dir, *parts) if job_dir else os.path.join(*parts)


def format_job_instance(job):
    found = {
        "Function": job.get("fun", "unknown-function"), "Arguments": list(job.get("arg", [])),
        "Target": job.get("tgt", "unknown-target"), "Target-type": job.get("tgt_type", "list"),
        "User": job.get("user", "root"),
    }
    if "metadata" in job:
        found["Metadata"] = job["metadata"]
    return found


def format_jid_instance(jid, job):
    return dict(format_job_instance(job), StartTime=jid_to_time(jid))
