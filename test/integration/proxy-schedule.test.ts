// What proxies do by themselves: schedules and beacons of the pillar act on the device of their id, also where many share a process.
import { mkdirSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, halite } from '../support/deployment.ts';
import { EventListener } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';

const ids = ['alone', 'first', 'second'];

const relayType = `"""A device that runs functions itself."""
__proxyenabled__ = ["relay"]
CALLS = []

def init(opts):
    pass

def initialized():
    return True

def ping():
    return True

def module_executors():
    return ["relay"]

def call(fun, *args, **kwargs):
    CALLS.append(fun)
    return {"on": __opts__["id"], "fun": fun, "args": list(args), "kwargs": {k: kwargs[k] for k in sorted(kwargs)}}

def calls():
    return CALLS

def shutdown(opts):
    pass
`;
const relayExecutor = `"""Passes functions on to the device."""
__proxyenabled__ = ["relay"]

def __virtual__():
    if __opts__.get("proxy", {}).get("proxytype") != "relay":
        return False, "only for the device"
    return True

def execute(opts, data, func, args, kwargs):
    if data["fun"].startswith("test.") and data["fun"] != "test.ping":
        return __proxy__["relay.call"](data["fun"], *args, **kwargs)
    return __executors__["direct_call.execute"](opts, data, func, args, kwargs)
`;

describe('proxies by themselves', () => {
  let fleet: Deployment;
  let events: EventListener;

  beforeAll(async () => {
    fleet = await Deployment.create();
    const pillar = (id: string, text: string): void => writeFileSync(fleet.path(`srv/pillar/${id}.sls`), text);
    pillar('top', `base:\n${[...ids, 'holder', 'relayed'].map((id) => `  ${id}: [${id}]\n`).join('')}`);
    pillar('holder', 'proxy: {proxytype: deltaproxy, ids: [first, second]}\n');
    for (const id of ids)
      pillar(
        id,
        [
          'proxy: {proxytype: dummy}',
          `schedule: {tick: {function: pkg.install, args: [by-${id}], seconds: 2}}`,
          'beacons: {service: [{services: {samba: {onchangeonly: True}}}, {interval: 1}]}',
          '',
        ].join('\n'),
      );
    pillar('relayed', 'proxy: {proxytype: relay}\n');
    for (const [file, text] of Object.entries({ '_proxy/relay.py': relayType, '_executors/relay.py': relayExecutor })) {
      mkdirSync(fleet.path('srv/salt', file, '..'), { recursive: true });
      writeFileSync(fleet.path('srv/salt', file), text);
    }
    await fleet.startMaster();
    events = await EventListener.start(fleet);
    fleet.startProxy('alone', halite);
    await fleet.answering('alone');
    fleet.startProxy('holder', halite, 'metaproxy: deltaproxy', 'delta');
    fleet.startProxy('relayed', halite);
    await fleet.answering(...ids, 'relayed');
  });
  afterAll(async () => {
    await events?.stop();
    await fleet?.destroy();
  });

  it('run the schedule of their pillar on their own device, and return under their own id', async () => {
    const scheduled = (id: string): boolean =>
      events
        .tags()
        .filter((tag) => tag.startsWith('salt/job/') && tag.endsWith(`/ret/${id}`))
        .some((tag) => events.seen(tag)[0]?.['fun'] === 'pkg.install');
    await eventually('a scheduled job of each', () => ids.every(scheduled), {
      describe: () => events.tags().join('\n'),
    });
    const packages = await fleet.json('-L', ids.join(','), 'pkg.list_pkgs');
    for (const id of ids)
      expect(Object.keys(packages[id] as object).filter((name) => name.startsWith('by-'))).toEqual([`by-${id}`]);
    expect(await fleet.json('first', 'schedule.list')).toMatchObject({ first: expect.stringContaining('by-first') });
  });

  it('watch their own device with beacons', async () => {
    const said = (id: string): string => JSON.stringify(events.seen(`salt/beacon/${id}/service/samba`));
    const describeAll = (): string => ids.map((id) => `${id} ${said(id)}`).join('\n');
    await eventually('the first look at each device', () => ids.every((id) => said(id).includes('"running":false')), {
      describe: describeAll,
    });
    expect(said('second')).not.toContain('"running":true');
    await fleet.json('-L', 'alone,first', 'service.start', 'samba');
    const started = ['alone', 'first'];
    await eventually('news of two devices', () => started.every((id) => said(id).includes('"running":true')), {
      describe: describeAll,
    });
    await fleet.json('first', 'service.stop', 'samba');
    await eventually('news of the third change', () => events.seen('salt/beacon/first/service/samba').length === 3, {
      describe: describeAll,
    });
    expect(events.seen('salt/beacon/alone/service/samba')).toHaveLength(2);
    expect(events.seen('salt/beacon/second/service/samba')).toHaveLength(1);
  });

  it('run their jobs with the executor that their type names', async () => {
    expect(await fleet.json('relayed', 'test.echo', 'x')).toEqual({
      relayed: { on: 'relayed', fun: 'test.echo', args: ['x'], kwargs: {} },
    });
    expect(await fleet.json('relayed', 'grains.get', 'id')).toEqual({ relayed: 'relayed' });
  });
});
