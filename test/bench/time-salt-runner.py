# Times runner functions of a real Salt inside one process. Run with Salt's python.
import json
import sys
import time

import salt.config
import salt.runner

opts = salt.config.master_config(sys.argv[1])
opts["quiet"] = True
client = salt.runner.RunnerClient(opts)
times = {}
for name, fun, args in (
    ("list", "jobs.list_jobs", []),
    ("filtered", "jobs.list_jobs", [None, None, None, "pkg.*,test.p*", "*"]),
    ("lookup", "jobs.lookup_jid", [sys.argv[2]]),
):
    rounds = []
    for _ in range(2):
        begin = time.perf_counter()
        client.functions[fun](*args)
        rounds.append(time.perf_counter() - begin)
    times[name] = min(rounds)
print(json.dumps(times))
