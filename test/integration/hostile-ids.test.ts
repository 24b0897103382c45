// Ids that unauthenticated peers invent: invalid ones are refused by master and minion, many of them fill neither
// folders nor logs.
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { Request } from 'zeromq';
import { pack, unpack } from '../../src/base/codec/msgpack/index.ts';
import type { PlainDict } from '../../src/base/codec/value.ts';
import { publicPem } from '../../src/base/crypto/index.ts';
import { Deployment, halite, runProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';

let fleet: Deployment;
afterEach(async () => {
  await fleet?.destroy();
});

const newKey = (): string => publicPem(generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey);

/** What the master answers to a sign-in of each id: true means that the key waits for acceptance. */
async function signIns(ids: readonly string[], pub: string): Promise<Map<string, unknown>> {
  const socket = new Request({ linger: 0, receiveTimeout: 20_000 });
  socket.connect(`tcp://127.0.0.1:${fleet.ports.requests}`);
  const answers = new Map<string, unknown>();
  for (const id of ids) {
    await socket.send(pack({ enc: 'clear', load: { cmd: '_auth', id, pub, nonce: 'a'.repeat(32) }, version: 3 }));
    const [reply] = await socket.receive();
    const value = unpack(reply!) as PlainDict | string;
    const load = typeof value === 'string' ? value : value['load'];
    answers.set(id, load instanceof Uint8Array ? (unpack(load) as PlainDict)['ret'] : load);
  }
  socket.close();
  return answers;
}

const pendingFolder = (): string => fleet.path('etc/pki/master/minions_pre');
const log = (): string => readFileSync(fleet.path('log/master'), 'utf8');

const odd = [
  'a\nb',
  'x\n2026-01-01 00:00:00,000 [salt.master      :1   ][CRITICAL][1] FORGED LINE',
  'a/b',
  '../../pwned',
  '..',
  '.hidden',
  'a\\b',
  'a\u0085b',
  '\u2028x',
  'a\u2029b',
  'a\u202eb',
  '\u200bm1',
  'm1\ufeff',
  'm1\u2060',
  'm\u00ad1',
  'm1\u3164',
  'm1\ufe0f',
  'e\u0301',
  'm1 ',
  ' m1',
  'm1\u00a0x',
  'm1\u3000x',
  '\t',
  '\x1b[2J',
  '\u009b31m',
  '\x7f',
  '*',
  'web?',
  'm[12]',
  '-h',
  '--help',
  '\ue000',
  '\u{e0061}',
  'x'.repeat(256),
  'é'.repeat(128),
  'y'.repeat(10_000),
];
const fine = [
  'web-01.example.org',
  'büro-1',
  '机器1',
  'сервер',
  'x y',
  'A_b:c@d',
  'fe80::1',
  "o'brien",
  'x'.repeat(255),
];

describe('ids', () => {
  it('are refused when they could affect terminals, logs, paths or patterns, and are not stored', async () => {
    fleet = await Deployment.create({ autoAccept: false });
    await fleet.startMaster();
    const answers = await signIns([...odd, ...fine], newKey());
    const refusal = (id: string): unknown => (id.length > 255 ? 'bad load: id is too long' : false);
    expect(odd.filter((id) => answers.get(id) !== refusal(id))).toEqual([]);
    expect(fine.filter((id) => answers.get(id) !== true)).toEqual([]);
    expect(readdirSync(pendingFolder()).sort()).toEqual([...fine].sort());
    const lines = log().split('\n');
    expect(lines.filter((line) => line.startsWith('2026-01-01'))).toEqual([]);
    expect(lines.find((line) => line.includes('unacceptable id'))).toMatch(/why="the id contains U\+000A/);
  });

  it('of keys that lie in the folder already are shown escaped, cannot be accepted, and can be deleted', async () => {
    fleet = await Deployment.create({ autoAccept: false });
    await fleet.startMaster();
    const names = ['\x1b[2J', 'a\nb', 'a\u0085b', 'm1\u200b', '*', ' m1'].map((name) => Buffer.from(name));
    names.push(Buffer.from([0x66, 0xff, 0xfe]));
    const folder = Buffer.from(`${pendingFolder()}/`);
    for (const name of names) writeFileSync(Buffer.concat([folder, name]), newKey());
    writeFileSync(join(pendingFolder(), 'good'), newKey());
    const listed = JSON.parse((await fleet.run('salt-key', ['-L', '--out=json'])).stdout) as Record<string, string[]>;
    const shown = ['*', 'a\\nb', 'a\\u0085b', 'f\\xff\\xfe', 'good', 'm1\\u200b', '\\u001b[2J', '\\u0020m1'];
    expect([...listed['minions_pre']!].sort()).toEqual([...shown].sort());
    const screen = (await fleet.run('salt-key', ['-L', '--force-color'])).stdout;
    expect(screen.replace(/\x1b\[[\d;]*m/g, '')).not.toMatch(/[^\n\P{C}]/u);

    const accepted = await fleet.run('salt-key', ['-A', '-y']);
    expect(accepted.stdout).toContain('Key for minion good accepted.');
    expect(accepted.stderr).toContain('The key a\\nb is not named like a minion: it can only be deleted');
    expect(readdirSync(fleet.path('etc/pki/master/minions'))).toEqual(['good']);

    await fleet.run('salt-key', ['-d', 'a\\nb,[*]', '-y']);
    expect(readdirSync(pendingFolder(), 'buffer')).toHaveLength(names.length - 2);
    await fleet.run('salt-key', ['-D', '-y']);
    expect(readdirSync(pendingFolder(), 'buffer')).toHaveLength(0);
    expect(existsSync(fleet.path('etc/pki/master/minions/good'))).toBe(false);
  });

  it('are refused by the minion itself, with the reason', async () => {
    fleet = await Deployment.create();
    const config = fleet.configureMinion('m1');
    writeFileSync(
      join(config, 'minion'),
      readFileSync(join(config, 'minion'), 'utf8').replace('id: m1', 'id: "m*\\u202e"'),
    );
    const program = await runProgram(join(halite.bin, 'salt-minion'), ['-c', config], { timeoutMs: 120_000 });
    expect(program.code).not.toBe(0);
    expect(program.stderr).toContain('"m*\\u202e" cannot be a minion id: it contains U+202E');
    expect(existsSync(fleet.path('m1/pki/minion.pem'))).toBe(false);
  });
});

describe('many invented ids', () => {
  it('are stored up to a limit and a rate, while known minions sign in', async () => {
    fleet = await Deployment.create({ autoAccept: false, masterConfig: 'max_pending_keys: 100' });
    const known = newKey();
    // Accepted before the master starts: it counts its folders once a second, so a key that had waited in them a
    // moment ago would take the place of an invented one.
    mkdirSync(fleet.path('etc/pki/master/minions'), { recursive: true });
    writeFileSync(fleet.path('etc/pki/master/minions/known'), known);
    await fleet.startMaster();
    const pub = newKey();
    const answers = await signIns(
      Array.from({ length: 400 }, (_, n) => `nobody-${n}`),
      pub,
    );
    // Everybody is told to wait: another answer would end real minions.
    expect([...answers.values()].filter((answer) => answer !== true)).toEqual([]);
    // One address gets half of the space.
    expect(readdirSync(pendingFolder())).toHaveLength(50);
    expect((await signIns(['known'], known)).get('known')).toBeUndefined();
    await eventually('the log to say why', () => log().includes('max_pending_keys'), { describe: log });
    expect(
      log()
        .split('\n')
        .filter((line) => line.includes('nobody-')).length,
    ).toBeLessThan(300);

    await fleet.run('salt-key', ['-d', 'nobody-*', '-y']);
    await eventually('a new minion to be stored once there is room', async () => {
      await signIns(['late'], pub);
      return existsSync(join(pendingFolder(), 'late'));
    });
  });

  it('with other keys than the stored ones leave one denied key per id', async () => {
    fleet = await Deployment.create({ autoAccept: false });
    await fleet.startMaster();
    await signIns(['m1'], newKey());
    for (let n = 0; n < 5; n++) expect((await signIns(['m1'], newKey())).get('m1')).toBe(false);
    expect(readdirSync(fleet.path('etc/pki/master/minions_denied'))).toEqual(['m1']);
  });
});
