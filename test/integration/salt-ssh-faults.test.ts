// What breaks between salt-ssh and its targets: every target has a result or the reason why not, and nothing is left.
import { spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/store/sqlite/driver.ts';
import { halite, runProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/ports.ts';
import { preparedProgram } from '../support/servers/server.ts';
import { readIfThere, SshField } from '../support/ssh-field.ts';

const sshd = preparedProgram('sshd', 'openssh-server');
const inNamespaces = process.getuid?.() === 0;

const childrenOf = (pid: number): number[] =>
  readIfThere(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
const nameOf = (pid: number): string => readIfThere(`/proc/${pid}/comm`).trim();

/** A network that can be cut: both ends see a connection on which nothing arrives any more. */
async function silentRelay(target: number): Promise<{ port: number; cut(): void; close(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    for (const socket of [near, far]) sockets.add(socket.on('error', () => undefined));
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => sockets.forEach((socket) => void socket.unpipe().pause()),
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

describe.skipIf(!sshd)('salt-ssh when something breaks', () => {
  let field: SshField;

  beforeAll(async () => {
    const [publish, requests] = await freePorts(2);
    field = new SshField(`interface: 127.0.0.1\npublish_port: ${publish}\nret_port: ${requests}`);
    await field.add('web');
  });
  afterAll(() => field?.destroy());

  it('says which hosts it does not reach, and runs on the others', async () => {
    const [closed = 0] = await freePorts(1);
    const web = field.entry(field.targets[0]!);
    const roster = field.write(
      'etc/mixed',
      `${web}down: {host: 127.0.0.1, port: ${closed}}\nnowhere: {host: no.such.host.invalid}\n`,
    );
    const { stdout, code } = await field.run('--roster-file', roster, '*', 'test.ping');
    expect(stdout).toContain('web:\n    True\n');
    expect(stdout).toContain(`down:\n    ssh: connect to host 127.0.0.1 port ${closed}: Connection refused\n`);
    expect(stdout).toMatch(/nowhere:\n {4}ssh: Could not resolve hostname no\.such\.host\.invalid/);
    expect(code).toBe(20);
    expect(readdirSync(field.path('tmp'))).toEqual([]);
  });

  it('does not accept unknown or changed host keys', async () => {
    const { sshd: server } = field.targets[0]!;
    const unknown = field.path('known');
    const entry = `web: {host: 127.0.0.1, port: ${server.port}, user: root, priv: ${server.key}, thin_dir: ${field.path('targets/web')}, ssh_options: ['UserKnownHostsFile=${unknown}', 'GlobalKnownHostsFile=/dev/null']}\n`;
    const roster = field.write('etc/strict', entry);
    const asked = await field.run('--roster-file', roster, 'web', 'test.ping');
    expect(asked.stdout).toContain('The host key needs to be accepted, to auto accept run salt-ssh with the -i flag:');
    expect(asked.stdout).toContain('ED25519 key fingerprint is SHA256:');
    expect(asked.code).toBe(20);
    expect(existsSync(unknown)).toBe(false);
    expect((await field.run('--roster-file', roster, '-i', 'web', 'test.ping')).stdout).toBe('web:\n    True\n');
    const [place, kind] = readFileSync(unknown, 'utf8').split(' ');
    writeFileSync(unknown, `${place} ${kind} AAAAC3NzaC1lZDI1NTE5AAAAIHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHH\n`);
    const changed = await field.run('--roster-file', roster, 'web', 'test.ping');
    expect(changed.stdout).toMatch(/REMOTE HOST IDENTIFICATION HAS CHANGED|Host key verification failed/);
    expect(changed.code).toBe(20);
  });

  it('says that a key is refused', async () => {
    const refused = await field.add('refused', { authorized: '' });
    const { stdout, code } = await field.run('refused', 'test.ping');
    expect(stdout).toMatch(/retcode:\n\s+255\n\s+stderr:\n\s+root@127\.0\.0\.1: Permission denied/);
    expect(code).toBe(20);
    expect(existsSync(refused.folder)).toBe(false);
  });

  it('reports a job process that is killed', async () => {
    const { stdout, code } = await field.run('web', 'cmd.run', 'kill -9 $PPID');
    expect(stdout).toContain('The job process ended unexpectedly');
    expect(code).toBe(20);
  });

  it('ends at a deadline', async () => {
    const late = field.path('late');
    const { stdout, code } = await field.run(
      'web',
      'cmd.run',
      `echo $$ > ${late}; exec sleep 1000`,
      '--deadline',
      '10s',
    );
    expect(stdout).toContain('The deadline of the job passed');
    expect(code).toBe(20);
    const command = Number(readIfThere(late));
    await eventually('the command to end', () => nameOf(command) !== 'sleep');
    expect((await field.run('web', '-r', 'sleep 100', '--deadline', '2s')).stdout).toContain(
      'The deadline of the job passed',
    );
  });

  it('ends its work there when it is interrupted', async () => {
    const begun = field.path('begun');
    const { pid, done } = field.start('web', 'cmd.run', `echo $$ > ${begun}; exec sleep 1000`);
    await eventually('the command to run', () => readIfThere(begun).trim() !== '');
    process.kill(pid, 'SIGINT');
    expect((await done).code).toBe(130);
    const command = Number(readFileSync(begun, 'utf8'));
    await eventually('the command to end', () => nameOf(command) !== 'sleep');
  });

  it('collects the result of a job whose connection was cut', async () => {
    const master = spawn(join(halite.bin, 'salt-master'), ['-c', field.path('etc'), '-l', 'info'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    for (const stream of [master.stdout, master.stderr]) stream.on('data', (data: Buffer) => (said += data.toString()));
    try {
      await eventually('the master', () => said.includes('master is ready'), { describe: () => said });
      const gate = field.path('gate');
      const begun = field.path('cut-begun');
      const script = `echo x > ${begun}; while [ ! -e ${gate} ]; do sleep 0.1; done; echo finished`;
      const { pid, done } = field.start('web', 'cmd.run', script);
      await eventually('the command to run', () => existsSync(begun));
      const ssh = childrenOf(pid).find((child) => nameOf(child) === 'ssh');
      process.kill(ssh!, 'SIGKILL');
      const lost = await done;
      expect(lost.stdout).toContain('the next run collects its result');
      expect(lost.code).toBe(20);
      writeFileSync(gate, '');
      const kept = join(field.path('targets/web'), 'halite', 'kept');
      const results = (): string[] => (existsSync(kept) ? readdirSync(kept).filter((name) => /^\d+$/.test(name)) : []);
      await eventually('the result to be kept', () => results().length === 1);
      const [jid = ''] = results();
      const about = (): Promise<{ stdout: string }> =>
        runProgram(join(halite.bin, 'salt-run'), ['-c', field.path('etc'), '--out=json', 'jobs.print_job', jid]);
      expect((await about()).stdout).toContain('"cmd.run"');
      expect((await about()).stdout).toContain('"Result": {}');
      const explained = await runProgram(join(halite.bin, 'salt-run'), ['-c', field.path('etc'), 'jobs.explain', jid]);
      expect(explained.stdout).toContain('web: missing, The connection was lost');
      expect((await field.run('web', 'test.ping')).stdout).toBe('web:\n    True\n');
      expect(readdirSync(kept)).toEqual([]);
      expect((await about()).stdout).toContain('"return": "finished"');
    } finally {
      const ended = new Promise((resolve) => master.once('exit', resolve));
      master.kill('SIGTERM');
      await ended;
    }
  });

  it('collects the result of a job whose network or sshd failed meanwhile', async () => {
    const { sshd: server } = field.targets[0]!;
    const relay = await silentRelay(server.port);
    const trusted = readFileSync(server.known, 'utf8').replace(/\]:\d+ /, `]:${relay.port} `);
    const known = field.write('relay-known', trusted);
    const web = field.entry(field.targets[0]!);
    const behind = web.replace(`port: ${server.port}`, `port: ${relay.port}`).replace(server.known, known);
    const cases: [string, string, (sessions: () => number[]) => void][] = [
      ['20260101010101000011', field.write('etc/behind', behind), () => relay.cut()],
      [
        '20260101010101000012',
        field.path('etc/roster'),
        (sessions) => {
          for (const pid of sessions()) process.kill(pid, 'SIGKILL');
        },
      ],
    ];
    const kept = join(field.path('targets/web'), 'halite', 'kept');
    try {
      for (const [jid, roster, fail] of cases) {
        const [begun, gate] = [field.path(`begun-${jid}`), field.path(`gate-${jid}`)];
        const before = new Set(childrenOf(server.pid));
        const script = `echo x > ${begun}; while [ ! -e ${gate} ]; do sleep 0.1; done; echo finished`;
        const quick = ['--keepalive-interval', '1', '--keepalive-count-max', '2'];
        const { done } = field.start('--roster-file', roster, ...quick, '--jid', jid, 'web', 'cmd.run', script);
        await eventually('the command to run', () => existsSync(begun));
        fail(() => childrenOf(server.pid).filter((pid) => !before.has(pid)));
        const { stdout, code } = await done;
        expect(stdout, jid).toContain('the next run collects its result');
        expect(code).toBe(20);
        writeFileSync(gate, '');
        await eventually('the result to be kept', () => existsSync(join(kept, jid)));
        expect((await field.run('web', 'test.ping')).stdout).toBe('web:\n    True\n');
        expect(readdirSync(kept)).toEqual([]);
        const db = await openDatabase(field.path('cache/halite.db'), { readonly: true });
        const [row] = db.prepare('SELECT full_ret FROM ret WHERE jid = ?').all(jid);
        db.close();
        expect(JSON.parse(String(row?.['full_ret']))).toMatchObject({ return: 'finished', retcode: 0 });
      }
    } finally {
      relay.close();
    }
  });

  it('removes its folder also when the connection was cut', async () => {
    const { folder } = await field.add('terminal', { entry: 'tty: True' });
    const [begun, gate] = [field.path('terminal-begun'), field.path('terminal-gate')];
    const script = `echo x > ${begun}; while [ ! -e ${gate} ]; do sleep 0.1; done`;
    const { pid, done } = field.start('-w', 'terminal', 'cmd.run', script);
    await eventually('the command to run', () => existsSync(begun));
    process.kill(childrenOf(pid).find((child) => nameOf(child) === 'ssh')!, 'SIGKILL');
    expect((await done).stdout).toContain('its result is removed with its folder');
    writeFileSync(gate, '');
    await eventually('the folder to be removed', () => !existsSync(folder));
  });

  it('removes what a transfer left that was killed there', async () => {
    const place = join(field.path('targets/web'), 'halite');
    await field.run('web', 'test.ping');
    const [app = ''] = readdirSync(place).filter((name) => name.startsWith('app-'));
    rmSync(join(place, app));
    // More than any process id, and one of a process that runs.
    const [dead, alive] = ['.part-4194305', `.part-${process.pid}`];
    for (const name of [dead, alive]) writeFileSync(join(place, name), 'x');
    expect((await field.run('web', 'test.ping')).stdout).toBe('web:\n    True\n');
    const parts = readdirSync(place).filter((name) => name.startsWith('.part-'));
    expect(parts).toEqual([alive]);
    rmSync(join(place, alive));
  });

  it('records jobs also while no master runs', async () => {
    const jid = '20260101010101000001';
    await field.run('--jid', jid, 'web', 'test.echo', 'recorded');
    const db = await openDatabase(field.path('cache/halite.db'), { readonly: true });
    const rows = db.prepare('SELECT count(*) AS n FROM salt_returns WHERE jid = ?').all(jid);
    db.close();
    expect(rows[0]?.n).toBe(1);
  });

  it.skipIf(!inNamespaces)(
    'names what is wrong with the folder on the target',
    async () => {
      const at = (id: string): string => field.path('targets', id);
      for (const id of ['full', 'noexec', 'link', 'foreign', 'owned']) mkdirSync(at(id), { recursive: true });
      await field.add('full', { mounts: `mount -t tmpfs -o size=1m tmpfs ${at('full')}` });
      await field.add('noexec', { mounts: `mount -t tmpfs -o noexec tmpfs ${at('noexec')}` });
      rmSync(at('link'), { recursive: true });
      symlinkSync(at('web'), at('link'));
      await field.add('link');
      writeFileSync(join(at('foreign'), 'precious'), 'x');
      await field.add('foreign');
      chownSync(at('owned'), 65_534, 65_534);
      await field.add('owned');
      // A program of others has the name of ours.
      mkdirSync(join(at('shared'), 'halite'), { recursive: true });
      writeFileSync(join(at('shared'), 'halite', 'precious'), 'x');
      await field.add('shared');
      // Somebody puts a link there in the last moment.
      const quicker = field.write(
        'quicker/mkdir',
        `#!/bin/sh\nfor at in "$@"; do [ "$at" != ${at('raced')} ] || ln -s ${at('elsewhere')} "$at"; done\nPATH=/usr/bin:/bin exec mkdir "$@"\n`,
      );
      chmodSync(quicker, 0o755);
      mkdirSync(at('elsewhere'));
      await field.add('raced', { env: { PATH: `${dirname(quicker)}:${process.env['PATH']}` } });
      const all = 'full,noexec,link,foreign,owned,shared,raced';
      const { stdout, code } = await field.run('-L', all, 'test.ping', '-w', '-t');
      expect(code).toBe(20);
      for (const [id, why] of [
        ['full', /The folder \S+ has 1 MB free, and 8 MB are needed/],
        ['noexec', /The folder \S+noexec is on a file system that runs no programs/],
        ['link', /The folder \S+link is a symbolic link/],
        ['foreign', /The folder \S+foreign has other content there/],
        ['owned', /The folder \S+owned belongs to another user there/],
        ['shared', /The folder \S+shared has other content there/],
        ['raced', /The folder \S+raced is a symbolic link/],
      ] as const)
        expect(stdout, id).toMatch(why);
      expect(readFileSync(join(at('foreign'), 'precious'), 'utf8')).toBe('x');
      expect(readFileSync(join(at('shared'), 'halite', 'precious'), 'utf8')).toBe('x');
      expect(readdirSync(at('elsewhere'))).toEqual([]);
      expect(existsSync(at('web'))).toBe(true);
    },
    90_000,
  );

  it('names what keeps a runtime from running there', async () => {
    const target = async (id: string, programs: Readonly<Record<string, string>>): Promise<void> => {
      for (const [name, text] of Object.entries(programs))
        chmodSync(field.write(`${id}-bin/${name}`, `#!/bin/sh\n${text}\n`), 0o755);
      await field.add(id, { env: { PATH: `${field.path(`${id}-bin`)}:${process.env['PATH']}` } });
    };
    const lines = 'for n in $(seq 50); do echo "Error relocating node: _ZTVNSt7_$n: symbol not found" >&2; done';
    const loader = `echo "Error loading shared library libstdc++.so.6: No such file or directory" >&2; ${lines}; exit 127`;
    await target('alpine', { node: `[ "$1" = -p ] && echo 22.0.0 && exit 0\n${loader}` });
    // A 64-bit kernel with programs of 32 bits.
    await target('small', { node: 'exit 1', head: "printf '\\177ELF\\001'" });
    // As on RHEL 7.
    await target('old', { node: 'exit 1', getconf: '[ "$1" = GNU_LIBC_VERSION ] && echo glibc 2.17' });
    const { stdout, code } = await field.run('-L', 'alpine,small,old', 'test.ping');
    expect(stdout).toContain('The runtime needs the library libstdc++.so.6, which is not installed there');
    expect(stdout).toMatch(/there is no runtime for Linux \S+ with 32-bit programs\. Only commands with -r work there/);
    expect(stdout).toContain('its C library is too old (glibc 2.17; the runtime needs glibc 2.28)');
    expect(code).toBe(20);
  });

  it('reaches twenty targets at once, dead ones among them', async () => {
    const web = field.targets[0]!;
    const alive = Array.from({ length: 20 }, (_, at) =>
      field.entry({ ...web, id: `n${at}`, folder: field.path('targets', `n${at}`) }),
    );
    const [closed = 0] = await freePorts(1);
    const dead = Array.from({ length: 5 }, (_, at) => `d${at}: {host: 127.0.0.1, port: ${closed}}\n`);
    const roster = field.write('etc/many', [...dead, ...alive].join(''));
    const { stdout, stderr } = await field.run(
      '--roster-file',
      roster,
      '--max-procs',
      '8',
      '-s',
      '--out=json',
      '*',
      'test.ping',
    );
    // Nothing of Node's own about many listeners.
    expect(stderr).not.toContain('Warning');
    const results = JSON.parse(stdout) as Record<string, unknown>;
    expect(Object.values(results).filter((value) => value === true)).toHaveLength(20);
    expect(Object.keys(results)).toHaveLength(25);
  });
});
