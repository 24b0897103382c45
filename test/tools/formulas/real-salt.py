"""Answers a list of function calls with an installed Salt, in one process: argv is the job file and the answer file."""

import json
import os
import sys


def answer(caller, fun, args):
    """What the function returned, as salt-call would print it, or how it failed."""
    try:
        value = caller.cmd(fun, *args)
        return {"value": json.dumps({"local": value}, default=repr, indent=4)}
    except Exception as exc:  # every failure is an answer here
        return {"error": f"{type(exc).__name__}: {exc}"}


def main():
    job_file, answer_file = sys.argv[1:3]
    with open(job_file, encoding="utf-8") as stream:
        jobs = json.load(stream)
    # Modules may print: standard output is not ours to use.
    os.dup2(2, 1)
    import salt.client
    import salt.config

    answers = []
    for job in jobs:
        opts = salt.config.minion_config(os.path.join(job["conf"], "minion"), cache_minion_id=False)
        opts["file_client"] = "local"
        try:
            caller = salt.client.Caller(mopts=opts)
        except Exception as exc:
            answers.append([{"error": f"{type(exc).__name__}: {exc}"}] * len(job["calls"]))
            continue
        answers.append([answer(caller, fun, args) for fun, args in job["calls"]])
        with open(answer_file + ".part", "w", encoding="utf-8") as stream:
            json.dump(answers, stream)
    with open(answer_file, "w", encoding="utf-8") as stream:
        json.dump(answers, stream)


main()
