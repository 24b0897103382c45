// The machine under a measurement: what processes cost, and what it can do at most.
import { constants, generateKeyPairSync, privateDecrypt, publicEncrypt, randomBytes, sign, verify } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { Crypticle } from '../../../src/base/crypto/index.ts';

export const ticksPerSecond = 100;

export interface Cost {
  readonly cpuSeconds: number;
  /** Proportional set size: a page that several processes share counts once. */
  readonly mb: number;
  readonly processes: number;
}

/** Of a process and everything below it, ended children included. */
export function costOf(root: number): Cost {
  const parents = new Map<number, number>();
  const times = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const fields = statOf(name);
    if (!fields) continue;
    parents.set(Number(name), Number(fields[1]));
    times.set(Number(name), [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0) / ticksPerSecond);
  }
  const isBelow = (pid: number): boolean =>
    pid === root || (pid > 1 && parents.has(pid) && isBelow(parents.get(pid) ?? 0));
  const pids = [...parents.keys()].filter(isBelow);
  return {
    cpuSeconds: pids.reduce((sum, pid) => sum + (times.get(pid) ?? 0), 0),
    mb: pids.reduce((sum, pid) => sum + pssOf(pid), 0),
    processes: pids.length,
  };
}

function statOf(pid: string): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    // It has ended meanwhile.
    return undefined;
  }
}

function pssOf(pid: number): number {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/** Seconds in which a processor worked for anybody, and the share of all processor time since `before`. */
export function busySeconds(): number {
  const fields = (readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? '').trim().split(/\s+/).slice(1).map(Number);
  return [0, 1, 2, 5, 6].reduce((sum, at) => sum + (fields[at] ?? 0), 0) / ticksPerSecond;
}

export interface Machine {
  readonly processors: number;
  readonly model: string;
  readonly memoryGb: number;
  readonly node: string;
  readonly load: number;
}

export const machine = (): Machine => ({
  processors: cpus().length,
  model: cpus()[0]?.model.trim() ?? '',
  memoryGb: Math.round(totalmem() / 1e8) / 10,
  node: process.version,
  load: Math.round((loadavg()[0] ?? 0) * 100) / 100,
});

export interface Limit {
  readonly name: string;
  readonly perSecond: number;
}

/** How often it is done in one second of a processor. */
function rateOf(name: string, milliseconds: number, work: () => void): Limit {
  const before = process.cpuUsage();
  let times = 0;
  let used = 0;
  for (; used < milliseconds; used = cpuMs(process.cpuUsage(before))) {
    for (let n = 0; n < 20; n++) work();
    times += 20;
  }
  return { name, perSecond: Math.round((times / used) * 1000) };
}

const cpuMs = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000;

/** What the wire protocol asks of a master, alone: RSA, the symmetric cipher, sockets, the database. */
export async function limitsOf(milliseconds: number): Promise<Limit[]> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const text = randomBytes(300);
  const signature = sign('sha1', text, privateKey);
  const oaep = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha1' };
  const secret = publicEncrypt({ key: publicKey, ...oaep }, randomBytes(76));
  const cipher = new Crypticle(Crypticle.generateKeyString());
  const plain = randomBytes(1024);
  const sealed = cipher.encrypt(plain);
  return [
    rateOf('RSA-2048, sign', milliseconds, () => void sign('sha1', text, privateKey)),
    rateOf('RSA-2048, verify', milliseconds, () => void verify('sha1', text, publicKey, signature)),
    rateOf(
      'RSA-2048, OAEP encrypt',
      milliseconds,
      () => void publicEncrypt({ key: publicKey, ...oaep }, plain.subarray(0, 76)),
    ),
    rateOf('RSA-2048, OAEP decrypt', milliseconds, () => void privateDecrypt({ key: privateKey, ...oaep }, secret)),
    rateOf('AES-192-CBC and HMAC-SHA256, seal 1 kB', milliseconds, () => void cipher.encrypt(plain)),
    rateOf('AES-192-CBC and HMAC-SHA256, open 1 kB', milliseconds, () => void cipher.decrypt(sealed)),
    await echoRate('a round trip of 1 kB over loopback, one at a time', milliseconds, 1),
    await echoRate('the same, 64 at a time', milliseconds, 64),
    ...(await databaseRates(milliseconds)),
  ];
}

/** Both sides in this process, per second of a processor. */
async function echoRate(name: string, milliseconds: number, atOnce: number): Promise<Limit> {
  const message = Buffer.alloc(1024, 1);
  const server = createServer((socket) => socket.setNoDelay(true).pipe(socket));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  const client = connect({ port, host: '127.0.0.1', noDelay: true });
  const before = process.cpuUsage();
  const bytes = await new Promise<number>((done, fail) => {
    let received = 0;
    client.on('error', fail);
    client.on('connect', () => client.write(Buffer.alloc(1024 * atOnce, 1)));
    client.on('data', (chunk) => {
      const whole = Math.floor((received + chunk.length) / 1024) - Math.floor(received / 1024);
      received += chunk.length;
      if (cpuMs(process.cpuUsage(before)) > milliseconds) return done(received);
      for (let n = 0; n < whole; n++) client.write(message);
    });
  });
  const used = cpuMs(process.cpuUsage(before));
  client.destroy();
  server.close();
  return { name, perSecond: Math.round((bytes / 1024 / used) * 1000) };
}

async function databaseRates(milliseconds: number): Promise<Limit[]> {
  const { default: Database } = await import('better-sqlite3');
  const folder = mkdtempSync(join(tmpdir(), 'halite-limits-'));
  try {
    return [1, 100].map((batch) => {
      const db = new Database(join(folder, `${batch}.db`));
      db.pragma('journal_mode = WAL');
      db.pragma('synchronous = NORMAL');
      db.exec('CREATE TABLE result (jid TEXT, id TEXT, body BLOB, PRIMARY KEY (jid, id)) WITHOUT ROWID');
      const insert = db.prepare('INSERT INTO result VALUES (?, ?, ?)');
      const body = Buffer.alloc(200, 1);
      let row = 0;
      const write = db.transaction(() => {
        for (let n = 0; n < batch; n++) insert.run('20260101000000000000', `minion-${row++}`, body);
      });
      const { perSecond } = rateOf('', milliseconds, () => write());
      db.close();
      return { name: `SQLite, rows in transactions of ${batch}`, perSecond: perSecond * batch };
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
