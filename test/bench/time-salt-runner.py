# Times two runner functions of a real Salt inside one process. Run with Salt's python.
import json
import sys
import time

import salt.config
import salt.runner

opts = salt.config.master_config(sys.argv[1])
opts["quiet"] = True
client = salt.runner.RunnerClient(opts)
times = {}
for fun, args in (("jobs.list_jobs", []), ("jobs.lookup_jid", [sys.argv[2]])):
    rounds = []
    for _ in range(int(sys.argv[3])):
        begin = time.perf_counter()
        client.functions[fun](*args)
        rounds.append(time.perf_counter() - begin)
    times[fun] = sorted(rounds)[len(rounds) // 2]
print(json.dumps(times))
