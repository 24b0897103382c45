import { spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLogger } from './index.ts';
import { parseSyslogTarget } from './syslog-target.ts';
import { memoryLogger } from './testing.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'halite-log-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const lines = (file: string): string[] => readFileSync(file, 'utf8').split('\n').slice(0, -1);

async function eventually(check: () => boolean): Promise<void> {
  const deadline = Date.now() + 45_000;
  while (!check()) {
    if (Date.now() > deadline) throw new Error('not in time');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe('log file', () => {
  it("is created with the first line, in Salt's layout, readable by owner and group", async () => {
    const file = join(root, 'deep/master');
    const log = createLogger({ logFile: file, level: 'info', console: false, name: 'salt.master' });
    expect(existsSync(file)).toBe(false);
    log.debug('no');
    log.info('yes', { n: 1 });
    await log.flush();
    expect(lines(file)).toHaveLength(1);
    expect(lines(file)[0]).toMatch(
      /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} \[salt\.master {6}:0 {3}\]\[INFO {4}\]\[\d+\] yes n=1$/,
    );
    expect(statSync(file).mode & 0o7).toBe(0);
    await log.close();
  });

  it.each(['text', 'json'])('on a full disk says so once, and later how many lines were lost: %s', async (format) => {
    const folder = join(root, 'small');
    mkdirSync(folder);
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', folder]).status !== 0) {
      console.error('SKIPPED: a tmpfs cannot be mounted here, so that a full disk was not tried.');
      return;
    }
    try {
      const shown = memoryLogger();
      const [file, sink] = [join(folder, 'log'), shown.sink];
      const log = createLogger({ logFile: file, level: 'info', fmtLogfile: '%(message)s', format, consoleSink: sink });
      const told = (): number =>
        shown.lines.filter((line) => line.includes('cannot be written: log lines are lost')).length;
      for (let i = 0; i < 100; i++) {
        log.info(`line ${i}`, { text: 'x'.repeat(1000) });
        if (i % 10 === 0) await log.flush();
      }
      await log.flush();
      expect(told()).toBe(1);
      truncateSync(file, 0);
      log.info('there is space again');
      await log.flush();
      const text = readFileSync(file, 'utf8');
      expect(text.trim().split('\n').at(-1)).toContain('there is space again');
      const count = Number(/(?:\.\.\. |"dropped":)(\d+)/.exec(text)?.[1]);
      expect(count).toBeGreaterThan(80);
      expect(count).toBeLessThanOrEqual(101);
      if (format === 'json') for (const line of text.trim().split('\n')) JSON.parse(line.replace(/^\0*/, ''));
      expect(told()).toBe(1);
      await log.close();
    } finally {
      spawnSync('umount', [folder]);
    }
  });

  it('keeps the order of many lines and appends to what is there', async () => {
    const file = join(root, 'log');
    writeFileSync(file, 'old\n');
    const log = createLogger({ logFile: file, level: 'info', console: false, fmtLogfile: '%(message)s' });
    const wanted = ['old'];
    for (let i = 0; i < 5000; i++) {
      log.info(`line ${i}`);
      wanted.push(`line ${i}`);
      if (i % 1000 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await log.close();
    expect(lines(file)).toEqual(wanted);
  });

  it('has its own level, which defaults to that of the console', async () => {
    const both = join(root, 'both');
    const log = createLogger({ logFile: both, level: 'error', levelLogfile: 'debug', console: false });
    log.debug('detail');
    await log.close();
    expect(lines(both)).toHaveLength(1);
    const silent = join(root, 'silent');
    const quiet = createLogger({ logFile: silent, level: 'debug', levelLogfile: 'quiet', console: false });
    quiet.critical('x');
    await quiet.close();
    expect(existsSync(silent)).toBe(false);
  });

  it('is reopened on request, and when it was renamed', async () => {
    const file = join(root, 'log');
    const log = createLogger({ logFile: file, level: 'info', console: false, fmtLogfile: '%(message)s' });
    log.info('one');
    await log.flush();
    renameSync(file, join(root, 'log.1'));
    log.reopen();
    log.info('two');
    await log.flush();
    expect(lines(file)).toEqual(['two']);
    renameSync(file, join(root, 'log.2'));
    await eventually(() => {
      log.info('again');
      return existsSync(file);
    });
    await log.close();
    expect(lines(file)[0]).toBe('again');
  });

  it('reopens on SIGHUP', async () => {
    const file = join(root, 'log');
    const log = createLogger({ logFile: file, level: 'info', console: false, reopenOnHangup: true });
    log.info('one');
    await log.flush();
    renameSync(file, join(root, 'log.1'));
    process.emit('SIGHUP', 'SIGHUP');
    log.info('two');
    await log.close();
    expect(lines(file)).toHaveLength(1);
    expect(process.listenerCount('SIGHUP')).toBe(0);
  });

  it('that cannot be written is reported on the console once', async () => {
    writeFileSync(join(root, 'file'), '');
    const file = join(root, 'file/log');
    const { log, lines: shown } = memoryLogger({ logFile: file, level: 'info' });
    log.info('one');
    await log.flush();
    log.info('two');
    await log.flush();
    expect(shown.filter((line) => line.includes('Failed to open log file'))).toHaveLength(1);
    expect(shown.join('\n')).toContain(`do you have permission to write to ${file}?`);
    await log.close();
  });
});

describe('end of the process', () => {
  it.each(['process.exit(3)', 'setTimeout(() => {}, 0)', 'throw new Error("crash")'])(
    'writes everything before %s',
    async (ending) => {
      const file = join(root, 'log');
      const entry = fileURLToPath(new URL('./index.ts', import.meta.url));
      const bundle = join(root, 'child.mjs');
      await build({
        stdin: {
          contents: `import { createLogger } from ${JSON.stringify(entry)};
            const log = createLogger({ logFile: ${JSON.stringify(file)}, level: 'info', fmtLogfile: '%(message)s' });
            for (let i = 0; i < 300; i++) log.info('early ' + i);
            setImmediate(() => setImmediate(() => {
              for (let i = 0; i < 300; i++) log.info('late ' + i);
              ${ending};
            }));`,
          resolveDir: root,
          loader: 'ts',
        },
        bundle: true,
        platform: 'node',
        format: 'esm',
        outfile: bundle,
        logLevel: 'silent',
      });
      const child = spawn(process.execPath, [bundle], { stdio: ['ignore', 'ignore', 'pipe'] });
      let stderr = '';
      child.stderr.on('data', (chunk: Buffer) => {
        stderr += chunk.toString();
      });
      await once(child, 'close');
      expect(lines(file)).toHaveLength(600);
      expect(stderr.split('\n').filter((line) => line.startsWith('[INFO'))).toHaveLength(600);
    },
  );
});

describe('syslog', () => {
  it('reads targets as Salt does', () => {
    expect(parseSyslogTarget('file:///dev/log')).toMatchObject({ kind: 'unix', path: '/dev/log', facility: 1 });
    expect(parseSyslogTarget('file:///dev/log/LOG_DAEMON')).toMatchObject({ path: '/dev/log', facility: 3 });
    expect(parseSyslogTarget('udp://loghost')).toMatchObject({ kind: 'udp', host: 'loghost', port: 514, facility: 1 });
    expect(parseSyslogTarget('udp://[::1]:5145/LOG_KERN')).toMatchObject({ host: '::1', port: 5145, facility: 0 });
    expect(parseSyslogTarget('tcp://h:1/log_local7')).toMatchObject({ kind: 'tcp', port: 1, facility: 23 });
    expect(() => parseSyslogTarget('udp://h/other')).toThrow("The syslog facility 'OTHER' is not known");
    expect(() => parseSyslogTarget('file:///dev/log/LOG_NOPE')).toThrow('LOG_NOPE');
  });

  it('sends datagrams with priority', async () => {
    const server = createSocket('udp4');
    const got: string[] = [];
    server.on('message', (message) => got.push(message.toString()));
    server.bind(0, '127.0.0.1');
    await once(server, 'listening');
    const log = createLogger({
      logFile: `udp://127.0.0.1:${server.address().port}/LOG_DAEMON`,
      level: 'info',
      console: false,
      fmtLogfile: '%(name)s %(message)s',
    });
    log.info('hello');
    log.error('bad');
    await eventually(() => got.length === 2);
    expect(got.sort()).toEqual(['<27>salt bad\0', '<30>salt hello\0']);
    await log.close();
    server.close();
  });

  it('sends lines over a stream socket and connects again', async () => {
    const path = join(root, 'log.sock');
    const got: string[] = [];
    const server = createServer((socket) => socket.on('data', (data) => got.push(data.toString())));
    server.listen(path);
    await once(server, 'listening');
    const log = createLogger({ logFile: `file://${path}`, level: 'info', console: false, fmtLogfile: '%(message)s' });
    log.warn('one\ntwo');
    log.info('three');
    await eventually(() => got.join('').endsWith('three\n'));
    expect(got.join('')).toBe('<12>one two\n<14>three\n');
    await log.close();
    server.close();
  });

  const tools = spawnSync('python3', ['--version']).status === 0 && spawnSync('logger', ['--version']).status === 0;
  it.runIf(tools)('reaches a datagram socket through the logger program', async () => {
    const path = join(root, 'dgram.sock');
    const listen = `import socket,sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind(sys.argv[1]); print("up", flush=True)
for _ in range(2): print(s.recv(4096).decode(), flush=True)`;
    const server = spawn('python3', ['-c', listen, path], { stdio: ['ignore', 'pipe', 'inherit'] });
    let got = '';
    server.stdout.on('data', (chunk: Buffer) => {
      got += chunk.toString();
    });
    await eventually(() => got.includes('up'));
    const log = createLogger({
      logFile: `file://${path}/LOG_DAEMON`,
      level: 'info',
      console: false,
      fmtLogfile: '%(message)s',
    });
    log.info('first');
    log.error('second');
    await once(server, 'exit');
    await log.close();
    expect(got).toMatch(/<30>.* salt: first\n<27>.* salt: second\n/);
  });

  it('that does not exist is reported on the console', async () => {
    const { log, lines: shown } = memoryLogger({ logFile: `file://${root}/none`, level: 'info' });
    log.info('x');
    await eventually(() => shown.some((line) => line.includes('Failed to write to syslog')));
    await log.close();
  });
});
