"""Uses Salt's Python library as scripts of operators do; prints what each call returned as JSON."""
import json
import multiprocessing
import sys
import time

import salt.client
import salt.config
import salt.runner
import salt.utils.event
import salt.wheel

conf, minion_conf, at_once = sys.argv[1], sys.argv[2], int(sys.argv[3])


def one(number):
    return salt.client.LocalClient(conf).cmd("*", "test.echo", [str(number)], timeout=60)


def main():
    out = {}
    local = salt.client.LocalClient(conf)
    out["cmd"] = local.cmd("*", "test.ping", timeout=30)
    out["arguments"] = local.cmd("m1", "test.arg", ["a", 1], kwarg={"b": [1, 2]}, timeout=30)
    out["list"] = local.cmd(["m1", "m2"], "test.echo", ["x"], tgt_type="list", timeout=30)
    out["grain"] = local.cmd("id:m*", "test.ping", tgt_type="grain", timeout=30)
    out["compound"] = local.cmd("m* and not m1", "test.ping", tgt_type="compound", timeout=30)
    out["several"] = local.cmd("m1", ["test.ping", "test.echo"], [[], ["y"]], timeout=30)
    out["nobody"] = local.cmd("nobody", "test.ping", timeout=30)
    out["batch"] = list(local.cmd_batch("*", "test.ping", batch="1", timeout=30))
    out["iter"] = list(local.cmd_iter("*", "test.ping", timeout=30))
    out["full"] = local.cmd_full_return("m1", "test.ping", timeout=30)
    jid = local.cmd_async("*", "test.ping")
    until = time.time() + 30
    while len(local.get_cache_returns(jid)) < 2 and time.time() < until:
        time.sleep(0.05)
    out["async"] = local.get_cache_returns(jid)
    opts = salt.config.master_config(conf)
    runner = salt.runner.RunnerClient(opts)
    out["lookup"] = runner.cmd("jobs.lookup_jid", [jid], print_event=False)
    out["up"] = runner.cmd("manage.up", kwarg={"timeout": 30}, print_event=False)
    wheel = salt.wheel.WheelClient(opts)
    out["keys"] = wheel.cmd("key.list_all")["minions"]
    out["accept"] = wheel.cmd("key.accept", ["waiting*"], print_event=False)
    with salt.utils.event.get_event("master", opts=opts, listen=True) as bus:
        bus.fire_event({"n": 1}, "my/tag")
        out["event"] = bus.get_event(wait=30, tag="my/tag", full=True)
    with multiprocessing.get_context("fork").Pool(at_once) as pool:
        out["at_once"] = pool.map(one, range(at_once), 1)
    mopts = salt.config.minion_config(minion_conf)
    out["caller"] = salt.client.Caller(mopts=mopts).cmd("test.ping")
    print("RESULT " + json.dumps(out, default=str))


main()
