# Fills the local_cache of a real Salt master with jobs, in the files its returner writes. Run with Salt's python.
import datetime
import os
import sys

import salt.config
import salt.payload
import salt.utils.jid

conf, jobs, big = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
opts = salt.config.master_config(conf)
folder = os.path.join(opts["cachedir"], "jobs")
start = datetime.datetime(2026, 1, 1)


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


for at in range(jobs + 1):
    jid = (start + datetime.timedelta(seconds=at)).strftime("%Y%m%d%H%M%S%f")
    minions = ["minion-%04d" % n for n in range(big if at == jobs else 1)]
    load = {"fun": "test.ping", "arg": [], "tgt": "*", "tgt_type": "glob", "jid": jid, "user": "root", "ret": ""}
    place = salt.utils.jid.jid_dir(jid, folder, opts["hash_type"])
    os.makedirs(place)
    write(os.path.join(place, "jid"), jid.encode())
    write(os.path.join(place, ".load.p"), salt.payload.dumps(load))
    write(os.path.join(place, ".minions.p"), salt.payload.dumps(minions))
    for minion in minions:
        os.mkdir(os.path.join(place, minion))
        result = {"return": True, "retcode": 0, "success": True}
        write(os.path.join(place, minion, "return.p"), salt.payload.dumps(result))
print(jid)
