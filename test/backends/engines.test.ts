// Engines of a real master against real servers: rsyslog as the target of lines, Redis with a sentinel, TLS.
import { execFileSync } from 'node:child_process';
import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type TLSSocket } from 'node:tls';
import { afterEach, expect, it } from 'vitest';
import { pack } from '../../src/base/codec/msgpack/index.ts';
import { newDict, PyFloat } from '../../src/base/codec/value.ts';
import { Deployment } from '../support/deployment.ts';
import { EventListener } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { startRedis, startSentinel } from '../support/servers/redis.ts';
import { startRsyslog } from '../support/servers/rsyslog.ts';
import { freePort } from '../support/servers/server.ts';

let ends: (() => unknown)[] = [];
const later = <T>(thing: T, end: (thing: T) => unknown): T => {
  ends.unshift(() => end(thing));
  return thing;
};
afterEach(async () => {
  for (const end of ends) await end();
  ends = [];
});

async function master(engines: unknown[], extra: object = {}): Promise<Deployment> {
  const fleet = later(await Deployment.create(), (each) => each.destroy());
  writeFileSync(fleet.path('etc/master.d/own.conf'), JSON.stringify({ engines, ...extra }));
  await fleet.startMaster();
  return fleet;
}
const fire = (fleet: Deployment, tag: string, data: object): Promise<unknown> =>
  fleet.run('salt-run', ['event.send', tag, JSON.stringify(data)]);
const runs = (fleet: Deployment, ...names: string[]): Promise<unknown> =>
  eventually('the engines', () => names.every((name) => fleet.master.said([`The engine ${name} runs`])));

it('logstash sends events over TCP and UDP to a real server, also after it was away', async (context) => {
  const server = await startRsyslog();
  if (!server) return context.skip();
  later(server, (each) => each.stop());
  const where = { host: '127.0.0.1', port: server.port, tags: ['send/*'] };
  const fleet = await master([
    { tcp: { engine_module: 'logstash', proto: 'tcp', tag: 'by-tcp', ...where } },
    { udp: { engine_module: 'logstash', tag: 'by-udp', ...where } },
  ]);
  await runs(fleet, 'tcp', 'udp');
  const came = (tag: string, number: number): boolean =>
    server
      .lines()
      .some(
        (line) =>
          (line.includes(tag) && line.includes(`"number":${number}`)) ||
          (line.includes(`"message": "${tag}"`) && line.includes(`"number": ${number}`)),
      );
  await fire(fleet, 'send/one', { number: 11 });
  await eventually('the one over TCP', () => came('by-tcp', 11), { describe: () => server.lines().join('\n') });
  await eventually('one over UDP, which may be lost', async () => {
    if (!came('by-udp', 11)) await fire(fleet, 'send/one', { number: 11 });
    return came('by-udp', 11);
  });
  await server.pause();
  await fire(fleet, 'send/two', { number: 22 });
  await eventually('a failure', async () => {
    // The first line after the end of a connection may be lost: TCP has no receipt.
    await fire(fleet, 'send/two', { number: 22 });
    return fleet.master.said(['logstash at 127.0.0.1']);
  });
  await server.start();
  await eventually('what was sent meanwhile', () => came('by-tcp', 22));
});

it('logentries sends lines with a token over TLS that it checks', async () => {
  const fleet = later(await Deployment.create(), (each) => each.destroy());
  const [key, cert] = [fleet.path('key.pem'), fleet.path('cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, ...subject], {
    stdio: 'ignore',
  });
  let text = '';
  let refused = 0;
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (socket: TLSSocket) => {
    socket.on('error', () => undefined);
    socket.on('data', (piece) => {
      text += piece.toString();
    });
  });
  server.on('tlsClientError', () => refused++);
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  later(server, (each) => each.close());
  const where = { endpoint: 'localhost', port, tags: ['send/*'], token: 'secret-token' };
  const engines = [
    { trusting: { engine_module: 'logentries', ca_bundle: cert, ...where } },
    { strict: { engine_module: 'logentries', tag: 'never', ...where } },
  ];
  writeFileSync(fleet.path('etc/master.d/own.conf'), JSON.stringify({ engines }));
  await fleet.startMaster();
  await runs(fleet, 'trusting', 'strict');
  await fire(fleet, 'send/one', { text: 'two\nlines' });
  await eventually('the line', () => text.includes('\n'));
  expect(text).toMatch(/^secret-token salt\/engines\/logentries \{.*two\\nlines.*\}\n$/);
  await eventually('the refusal', () => refused > 0);
  expect(text).not.toContain('never');
  expect(fleet.master.output()).not.toContain('secret-token');
});

it('redis_sentinel fires what a real sentinel announces', async (context) => {
  const redis = await startRedis();
  const sentinel = redis && (await startSentinel(redis.port));
  if (!redis || !sentinel) return context.skip();
  later(redis, (each) => each.stop());
  later(sentinel, (each) => each.stop());
  const fleet = await master([
    {
      redis_sentinel: { hosts: { host: '127.0.0.1', port: sentinel.port }, channels: ['+monitor', '+set', '-monitor'] },
    },
  ]);
  const events = later(await EventListener.start(fleet), (each) => each.stop());
  await runs(fleet, 'redis_sentinel');
  const { Redis } = await import('ioredis');
  const client = later(new Redis(sentinel.port, '127.0.0.1'), (each) => each.disconnect());
  await eventually('an announcement', async () => {
    await client.call('SENTINEL', 'SET', 'mymaster', 'quorum', '1');
    return events.seen('salt/engine/redis_sentinel/+set').length > 0;
  });
  expect(events.seen('salt/engine/redis_sentinel/+set')[0]).toMatchObject({ channel: '+set' });
});

it('stalekey deletes keys of minions that are away, and no others', async () => {
  const fleet = await master([{ stalekey: { interval: 0.3, expire: 4 } }]);
  const keys = async (): Promise<string[]> =>
    (JSON.parse((await fleet.run('salt-key', ['-l', 'accepted', '--out=json'])).stdout) as { minions: string[] })
      .minions;
  for (const id of ['m1', 'm2', 'm3']) fleet.startMinion(id);
  await fleet.answering('m1', 'm2', 'm3');
  await fleet.minion('m2').stop();
  await eventually('the key to go', async () => !(await keys()).includes('m2'));
  expect(await keys()).toEqual(['m1', 'm3']);
  // A master that was away for long does not count that time: m3 is not seen for some seconds, not for ten days.
  await fleet.master.stop();
  await fleet.minion('m3').stop();
  const [file, old] = [fleet.path('cache/master/presence.p'), Date.now() / 1000 - 864_000];
  writeFileSync(file, pack(newDict(['m1', 'm3'].map((id) => [id, new PyFloat(old)]))));
  utimesSync(file, old, old);
  const before = fleet.master.output().length;
  await fleet.startMaster();
  await eventually('the key of m3 to go', async () => !(await keys()).includes('m3'));
  const said = fleet.master.output().slice(before);
  expect(Number(/the key of m3 is deleted: it was not seen for (\d+) seconds/.exec(said)?.[1])).toBeLessThan(1000);
  expect(await keys()).toEqual(['m1']);
  // With nobody here at all, nothing is deleted.
  await fleet.minion('m1').stop();
  await eventually('the warning', () => fleet.master.said(['no minion is connected at all']));
  expect(await keys()).toEqual(['m1']);
});
