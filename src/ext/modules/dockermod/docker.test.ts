// A script replaces Docker's client: which commands it gets, and how its answers are read.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { newDict, type PlainDict, type Value } from 'halite/sdk';
import { testContext } from 'halite/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import config from '../config.ts';
import { differences } from './containers.ts';
import { createArgs } from './create-args.ts';
import docker from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'halite-docker-'));
const path = process.env['PATH'];
/** Chooses the answer by the first two words, and writes the command line to a file. */
const script = `#!/bin/sh
printf '%s\\n' "$*" >> ${folder}/asked
case "$1 $2" in
  "login "*) cat >> ${folder}/password ;;
esac
[ -f "${folder}/answers/$1-$2" ] && exec cat "${folder}/answers/$1-$2"
[ "$2" = inspect ] && { echo "Error: No such $1: $3" >&2; exit 1; }
exit 0
`;
beforeAll(() => {
  mkdirSync(join(folder, 'answers'));
  writeFileSync(join(folder, 'docker'), script);
  chmodSync(join(folder, 'docker'), 0o755);
  process.env['PATH'] = `${folder}${delimiter}${path}`;
});
afterAll(() => {
  process.env['PATH'] = path;
  rmSync(folder, { recursive: true, force: true });
});

const pillar = newDict([['docker-registries', { hub: { username: 'me', password: 's3cret' } }]]);
const call = (fun: string, args: Value[] = [], kwargs: PlainDict = {}): Promise<Value> =>
  testContext({ modules: [docker, config], pillar }).callWith(fun, args, kwargs);
const answer = (name: string, text: string): void => writeFileSync(join(folder, 'answers', name), text);
const asked = (): string[] => readFileSync(join(folder, 'asked'), 'utf8').trim().split('\n');

describe('options of a container', () => {
  it.each([
    [{ binds: ['/a:/b:ro', '/c:/d'] }, ['--volume', '/a:/b:ro', '--volume', '/c:/d', 'i']],
    [{ binds: { '/a': { bind: '/b', mode: 'ro' } } }, ['--volume', '/a:/b:ro', 'i']],
    [{ environment: [{ A: 1 }, 'B=x,y'] }, ['--env', 'A=1', '--env', 'B=x,y', 'i']],
    [{ port_bindings: '80:80,443:443' }, ['--publish', '80:80', '--publish', '443:443', 'i']],
    [{ ports: [80, '53/udp'] }, ['--expose', '80', '--expose', '53/udp', 'i']],
    [{ restart: 'always', privileged: true, tty: false }, ['--restart', 'always', '--privileged', 'i']],
    [{ cmd: "sh -c 'a b'", entrypoint: ['x', 'y'] }, ['--entrypoint', 'x', 'i', 'y', 'sh', '-c', 'a b']],
    [{ links: { db: 'mydb' }, extra_hosts: ['h:1.2.3.4'] }, ['--link', 'db:mydb', '--add-host', 'h:1.2.3.4', 'i']],
    [{ labels: { a: 'b' }, detach: true, __pub_jid: 'x' }, ['--label', 'a=b', 'i']],
  ] as [PlainDict, string[]][])('%j', (given, wanted) => {
    expect(createArgs('i', given)).toEqual(wanted);
  });

  it('refuses unknown ones', () => {
    expect(() => createArgs('i', { bindz: 'x' })).toThrow("Invalid argument: 'bindz'");
  });

  it('compares only meaningful differences', () => {
    const one = { Config: { Env: ['A=1', 'B=2'], Cmd: null, Hostname: 'x' }, HostConfig: { Binds: null, Memory: 0 } };
    const two = { Config: { Env: ['B=2', 'A=1'], Cmd: [], Hostname: 'y' }, HostConfig: { Binds: ['/a:/b'] } };
    expect(differences(one, two, ['Hostname'])).toEqual({ HostConfig: { Binds: { old: null, new: ['/a:/b'] } } });
  });
});

describe('docker', () => {
  it('creates, starts and removes containers', async () => {
    answer('container-create', 'abc\n');
    answer('container-inspect', JSON.stringify([{ Id: 'abc', Name: '/web', State: { Running: false } }]));
    expect(await call('docker.create', ['nginx'], { name: 'web', binds: ['/a:/b'] })).toEqual({
      Id: 'abc',
      Name: 'web',
    });
    expect(asked()).toContain('container create --name web --volume /a:/b nginx');
    expect(await call('docker.state', ['web'])).toBe('stopped');
    expect(await call('docker.stop', ['web'])).toMatchObject({
      result: false,
      comment: "Container 'web' already stopped",
    });
    expect(await call('docker.start', ['web'])).toEqual({ result: false, state: { old: 'stopped', new: 'stopped' } });
    expect(await call('docker.rm', ['web'], { force: true })).toEqual(['abc']);
    expect(asked().at(-1)).toBe('container rm --force web');
  });

  it('reports missing objects', async () => {
    await expect(call('docker.inspect_image', ['none'])).rejects.toThrow('Error 404: Error: No such image: none');
    expect(await call('docker.resolve_image_id', ['none'])).toBe(false);
    expect(await call('docker.resolve_tag', ['none'])).toBe(false);
  });

  it('pulls images', async () => {
    answer('image-pull', 'aa11: Already exists\nbb22: Pull complete\nStatus: Downloaded newer image for nginx:1\n');
    expect(await call('docker.pull', ['nginx:1'])).toMatchObject({
      Layers: { Pulled: ['bb22'], Already_Pulled: ['aa11'] },
      Status: 'Downloaded newer image for nginx:1',
    });
    answer('image-ls', '{"Repository":"nginx","Tag":"1"}\n{"Repository":"<none>","Tag":"<none>"}\n');
    expect(await call('docker.list_tags')).toEqual(['nginx:1']);
  });

  it('creates networks and volumes', async () => {
    await call('docker.create_network', ['web'], { driver: 'bridge', subnet: '10.7.0.0/24', options: { a: 'b' } });
    expect(asked().at(-1)).toBe('network create --driver bridge --subnet 10.7.0.0/24 --opt a=b web');
    answer('volume-inspect', '[{"Name":"data","Driver":"local"}]');
    expect(await call('docker.create_volume', ['data'], { driver: 'local' })).toEqual({
      Name: 'data',
      Driver: 'local',
    });
  });

  it('logs in without showing the password', async () => {
    expect(await call('docker.login')).toEqual({ retcode: 0, Errors: [], Results: { hub: true } });
    expect(asked().at(-1)).toBe('login --username me --password-stdin');
    expect(readFileSync(join(folder, 'password'), 'utf8')).toBe('s3cret');
    expect(await call('docker.login', ['other'])).toMatchObject({ retcode: 1 });
  });
});
