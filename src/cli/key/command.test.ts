// salt-key on temporary key folders; every text as real Salt 3006.27 printed it.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fingerprint } from '../../base/crypto/index.ts';
import { statusOf } from '../main.ts';
import { captureTerminal } from '../testing.ts';
import { saltKey } from './command.ts';

const vectors = JSON.parse(readFileSync(new URL('../../../test/fixtures/vectors/keys.json', import.meta.url), 'utf8'));
const publicKey = JSON.stringify(vectors)
  .match(/-----BEGIN PUBLIC KEY-----[\s\S]*?-----END PUBLIC KEY-----/)![0]
  .replaceAll('\\n', '\n');

let root: string;
const folders = { acc: 'minions', pre: 'minions_pre', rej: 'minions_rejected', den: 'minions_denied' };
const pki = (...path: string[]) => join(root, 'pki', ...path);
const put = (folder: keyof typeof folders, ...ids: string[]) => {
  for (const id of ids) writeFileSync(pki(folders[folder], id), publicKey);
};
const where = (folder: keyof typeof folders) => readdirSync(pki(folders[folder])).sort();

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'halite-key-'));
  vi.stubEnv('HOME', root);
  for (const folder of Object.values(folders)) mkdirSync(pki(folder), { recursive: true });
  for (const folder of ['cache', 'run']) mkdirSync(join(root, folder));
  writeFileSync(
    join(root, 'master'),
    `root_dir: ${root}\npki_dir: ${root}/pki\ncachedir: ${root}/cache\nsock_dir: ${root}/run\n`,
  );
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true });
});

async function key(argv: string[], answers: string[] = []) {
  const io = captureTerminal();
  const ask = (question: string) => {
    io.out(question);
    return answers.shift();
  };
  const code = await statusOf(() => saltKey(['-c', root, ...argv], { io, ask }), io);
  return { code, stdout: io.stdout, stderr: io.stderr };
}

describe('lists', () => {
  beforeEach(() => {
    put('acc', 'm1', 'dead1');
    put('pre', 'p1', 'p2', 'P3');
    put('rej', 'r1');
    put('den', 'd1');
  });

  it('shows every state by default', async () => {
    const all = 'Accepted Keys:\ndead1\nm1\nDenied Keys:\nd1\nUnaccepted Keys:\nP3\np1\np2\nRejected Keys:\nr1\n';
    for (const argv of [[], ['-L'], ['-l', 'all'], ['stray']]) {
      expect(await key(argv)).toEqual({ code: 0, stdout: all, stderr: '' });
    }
  });

  it('shows one state', async () => {
    expect((await key(['-l', 'acc'])).stdout).toBe('Accepted Keys:\ndead1\nm1\n');
    expect((await key(['-l', 'unaccepted'])).stdout).toBe('Unaccepted Keys:\nP3\np1\np2\n');
    expect((await key(['--list', 'den'])).stdout).toBe('Denied Keys:\nd1\n');
    const wrong = await key(['-l', 'xx']);
    expect(wrong.code).toBe(64);
    expect(wrong.stderr).toBe(
      "Usage: salt-key [options]\n\nsalt-key: error: 'xx' is not a valid argument to '--list'\n",
    );
  });

  it('in other formats, ignoring case in the order', async () => {
    expect((await key(['-l', 'pre', '--out=json'])).stdout).toBe(
      '{\n    "minions_pre": [\n        "p1",\n        "p2",\n        "P3"\n    ]\n}\n',
    );
    expect((await key(['--out=yaml'])).stdout).toBe(
      'minions:\n- dead1\n- m1\nminions_denied:\n- d1\nminions_pre:\n- p1\n- p2\n- P3\nminions_rejected:\n- r1\n',
    );
    expect((await key(['-q', '-L'])).stdout).toBe('');
  });

  it('prints keys and fingerprints', async () => {
    const print = fingerprint(publicKey);
    expect((await key(['-f', 'p*,r1'])).stdout).toBe(
      `Unaccepted Keys:\np1:  ${print}\np2:  ${print}\nRejected Keys:\nr1:  ${print}\n`,
    );
    expect((await key(['-f', 'nope'])).stdout).toBe('');
    expect((await key(['-p', 'p1'])).stdout).toBe(`Unaccepted Keys:\np1:  ${publicKey.trimEnd()}\n`);
    writeFileSync(pki('master.pub'), publicKey);
    expect((await key(['-F'])).stdout).toMatch(new RegExp(`^Local Keys:\nmaster.pub:  ${print}\nAccepted Keys:\n`));
    const all = JSON.parse((await key(['-P', '--out=json'])).stdout);
    expect(Object.keys(all)).toEqual(['minions', 'minions_pre', 'minions_rejected', 'minions_denied']);
    expect(all.minions.m1).toBe(publicKey);
  });
});

describe('changes', () => {
  it('accept, with every kind of answer', async () => {
    put('pre', 'p1');
    const head = 'The following keys are going to be accepted:\nUnaccepted Keys:\np1\nProceed? [n/Y] ';
    expect(await key(['-a', 'p1'], ['n'])).toEqual({ code: 0, stdout: head, stderr: '' });
    expect(where('pre')).toEqual(['p1']);
    const eof = await key(['-a', 'p1']);
    expect([eof.code, eof.stdout]).toEqual([1, head]);
    expect(eof.stderr).toContain('Error: EOF when reading a line\n');
    expect((await key(['-a', 'p1'], [''])).stdout).toBe(`${head}Key for minion p1 accepted.\n`);
    expect([where('pre'), where('acc')]).toEqual([[], ['p1']]);
  });

  it('delete has the opposite default', async () => {
    put('acc', 'm1');
    const head = 'The following keys are going to be deleted:\nAccepted Keys:\nm1\nProceed? [N/y] ';
    expect((await key(['-d', 'm1'], [''])).stdout).toBe(head);
    expect(where('acc')).toEqual(['m1']);
    expect((await key(['-d', 'm*'], ['Yes'])).stdout).toBe(`${head}Key for minion m1 deleted.\n`);
    expect(where('acc')).toEqual([]);
  });

  it('the flow of a new minion', async () => {
    put('pre', 'newone');
    expect((await key(['-y', '-a', 'newone'])).stdout).toBe(
      'The following keys are going to be accepted:\nUnaccepted Keys:\nnewone\nKey for minion newone accepted.\n',
    );
    expect((await key(['-y', '-r', 'newone', '--include-accepted'])).stdout).toBe(
      'The following keys are going to be rejected:\nAccepted Keys:\nnewone\nKey for minion newone rejected.\n',
    );
    expect((await key(['-y', '-d', 'newone', '--out=json'])).stdout).toBe(
      'The following keys are going to be deleted:\n{\n    "minions_rejected": [\n        "newone"\n    ]\n}\n' +
        'Key for minion newone deleted.\n',
    );
  });

  it('affects other states only with --include options', async () => {
    put('rej', 'r1');
    put('den', 'd1');
    const none = "The key glob 'r*' does not match any unaccepted keys.\n";
    expect(await key(['-a', 'r*', '-y'])).toEqual({ code: 0, stdout: none, stderr: '' });
    expect((await key(['-a', '*1', '-y', '--include-rejected', '--include-denied'])).stdout).toBe(
      'The following keys are going to be accepted:\nDenied Keys:\nd1\nRejected Keys:\nr1\n' +
        'Key for minion r1 accepted.\nKey for minion d1 accepted.\n',
    );
    expect((await key(['-r', 'x', '-y', '--include-accepted', '--include-denied'])).stdout).toBe(
      "The key glob 'x' does not match any unaccepted, accepted or denied keys.\n",
    );
    expect((await key(['-d', 'x', '-y'])).stdout).toBe("The key glob 'x' does not match any unaccepted keys.\n");
    expect((await key(['-R', '-y', '--include-all'])).stdout).toContain('Key for minion d1 rejected.\n');
    expect(where('rej')).toEqual(['d1', 'r1']);
  });

  it('all at once, sorted without regard to case', async () => {
    put('pre', 'b', 'A', 'c');
    expect((await key(['-A', '-y'])).stdout).toBe(
      'The following keys are going to be accepted:\nUnaccepted Keys:\nA\nb\nc\n' +
        'Key for minion A accepted.\nKey for minion b accepted.\nKey for minion c accepted.\n',
    );
    expect((await key(['-A', '-y'])).stdout).toBe("The key glob '*' does not match any unaccepted keys.\n");
    expect((await key(['-D', 'x', '-y'])).code).toBe(64);
    await key(['-D', '-y']);
    expect(where('acc')).toEqual([]);
  });

  it('never accepts a file that is not a key', async () => {
    put('pre', 'good');
    writeFileSync(pki('minions_pre', 'bad'), 'garbage');
    const got = await key(['-A', '-y']);
    expect(got.stdout).toContain('Key for minion good accepted.\n');
    expect(got.stdout).not.toContain('minion bad');
    expect(got.stderr).toBe('Unable to accept invalid key for bad.\n');
    expect([where('pre'), where('acc')]).toEqual([['bad'], ['good']]);
  });

  it('drops cached data and requests a new session key, unless disabled', async () => {
    const cached = join(root, 'cache/minions/m1');
    const drop = join(root, 'cache/.dfn');
    mkdirSync(cached, { recursive: true });
    put('acc', 'm1', 'm2');
    await key(['-y', '-d', 'm1', '--preserve-minions=True', '--rotate-aes-key=False']);
    expect([existsSync(cached), existsSync(drop)]).toEqual([true, false]);
    put('acc', 'm1');
    await key(['-y', '-d', 'm1']);
    expect([existsSync(cached), existsSync(drop)]).toEqual([false, true]);
  });
});

describe('new keys', () => {
  it('creates a pair and prints its fingerprint', async () => {
    const folder = join(root, 'new');
    const first = await key(['--gen-keys=gk', `--gen-keys-dir=${folder}`]);
    const print = fingerprint(readFileSync(join(folder, 'gk.pub'), 'utf8'));
    expect(first).toEqual({ code: 0, stdout: `return:\n    ${print}\n`, stderr: '' });
    expect(statSync(join(folder, 'gk.pem')).mode & 0o777).toBe(0o400);
    // The pair is kept, not created again.
    expect(JSON.parse((await key(['--gen-keys=gk', `--gen-keys-dir=${folder}`, '--out=json'])).stdout).return).toBe(
      print,
    );
  });

  it('checks size and name', async () => {
    expect((await key(['--gen-keys=gk', '--keysize=1024'])).stderr).toContain('The minimum value for keysize is 2048');
    expect((await key(['--gen-keys=gk', '--keysize=40000'])).code).toBe(64);
    const outside = await key(['--gen-keys=../outside', `--gen-keys-dir=${join(root, 'new')}`]);
    expect([outside.code, existsSync(join(root, 'outside.pem'))]).toEqual([1, false]);
  });

  it('needs no configuration for that', async () => {
    const io = captureTerminal();
    const argv = ['-c', join(root, 'nowhere'), '--gen-keys=k', `--gen-keys-dir=${root}/made`];
    expect(await statusOf(() => saltKey(argv, { io }), io)).toBe(0);
    expect(io.stderr).toBe('');
  });

  it('signs the public key of the master', async () => {
    expect((await key(['--gen-signature'])).stdout).toBe('return:\n    No usable private-key found\n');
    expect((await key(['--gen-signature', '--pub', '/nope'])).stdout).toBe(
      'return:\n    Public-key /nope does not exist\n',
    );
    writeFileSync(pki('master.pub'), publicKey);
    expect((await key(['--gen-signature', '--auto-create'])).stdout).toBe('return:\n    True\n');
    expect(readFileSync(pki('master_pubkey_signature'), 'utf8')).toMatch(/^[A-Za-z0-9+/]+=*\n$/);
    expect((await key(['--gen-signature', '--out=json'])).stdout).toBe('{\n    "return": false\n}\n');
  });
});

it('names the systems of external authentication when it gets another one', async () => {
  const got = await key(['-L', '--eauth', 'wizard']);
  expect([got.code, got.stderr]).toEqual([2, 'ERROR: Authentication failed\n']);
  expect(got.stdout).toMatch(/"wizard" is not available\nAvailable eauth types: auto, file,/);
});

it('reads a folder it may not write', async () => {
  put('acc', 'm1');
  chmodSync(pki(), 0o500);
  expect((await key(['-L'])).stdout).toContain('Accepted Keys:\nm1\n');
  chmodSync(pki(), 0o700);
});
