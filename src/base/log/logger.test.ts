import { describe, expect, it, vi } from 'vitest';
import { createLogger, createLoggerFromOpts, nullLogger } from './index.ts';
import { Limiter } from './limiter.ts';
import { memoryLogger } from './testing.ts';

describe('lines', () => {
  it('are the message and its fields', () => {
    const { log, lines } = memoryLogger();
    log.warn('return refused', { minion: 'web1', jid: '20260101', tries: 3, gone: undefined, why: 'no such key' });
    log.info('plain');
    expect(lines).toEqual([
      '[WARNING ] return refused minion=web1 jid=20260101 tries=3 why="no such key"',
      '[INFO    ] plain',
    ]);
  });

  it('stay on one line whatever a peer sends', () => {
    const { log, lines } = memoryLogger();
    log.warn('bad id', { id: 'x\n[CRITICAL] forged\r\x1b[2J\u2028', empty: '', list: ['a\nb'] });
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toMatch(/[\n\r\x1b\u2028]/);
    expect(lines[0]).toContain('id="x\\n[CRITICAL] forged\\r\\u001b[2J\\u2028"');
    expect(lines[0]).toContain('empty="" list=["a\\nb"]');
  });

  it('stay on one line when the message itself has several, and stacks never look like a separate line', () => {
    const { log, lines } = memoryLogger({ level: 'debug' });
    const forged = '2026-01-01 00:00:00,000 [salt.master][CRITICAL] FORGED';
    log.error(`Rendering failed:\n  ${forged}\u0085\x1b[2J`);
    log.error('failed', { error: new Error(`x\n${forged}\r\n${forged}`) });
    expect(lines[0]).toBe(`[ERROR   ] Rendering failed: ${forged}\\u0085\\u001b[2J`);
    expect(lines[1]?.split('\n').filter((line) => line.startsWith('2026'))).toEqual([]);
  });

  it('are also safe as JSON', () => {
    const { log, lines } = memoryLogger({ format: 'json' });
    log.warn('a\u0085b', { id: '\u009b31m\u2028\u202e' });
    expect(lines[0]).not.toMatch(/[\u0085\u009b\u2028\u202e]/);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ message: 'a\u0085b', id: '\u009b31m\u2028\u202e' });
  });

  it('show values of every kind', () => {
    const { log, lines } = memoryLogger();
    const loop: Record<string, unknown> = {};
    loop['self'] = loop;
    log.info('kinds', {
      bytes: new Uint8Array(3),
      date: new Date(0),
      big: 12n,
      map: new Map([[1, 'a']]),
      nothing: null,
      error: new Error('went wrong'),
      loop,
    });
    expect(lines[0]).toContain('bytes="<3 bytes>"'.replaceAll('"', ''));
    expect(lines[0]).toContain(
      'date=1970-01-01T00:00:00.000Z big=12 map={"1":"a"} nothing=null error="went wrong" loop=',
    );
  });

  it('carry the stack of an error only where debug detail is shown', () => {
    const quiet = memoryLogger({ level: 'info' });
    quiet.log.error('failed', { error: new Error('x') });
    expect(quiet.lines[0]).toBe('[ERROR   ] failed error=x');
    const open = memoryLogger({ level: 'debug' });
    open.log.error('failed', { error: new Error('x') });
    expect(open.lines[0]).toMatch(/failed error=x\nError: x\n +at /);
  });

  it('hide secrets', () => {
    const { log, lines } = memoryLogger();
    log.info('login', { user: 'fred', password: 'hunter2', token: 'abc', load: { eauth: 'pam', api_key: 'k', n: 1 } });
    log.info('fetch', { url: 'https://bob:secret@git.example/x' });
    expect(lines.join()).not.toMatch(/hunter2|abc|secret@/);
    expect(lines[0]).toBe(
      '[INFO    ] login user=fred password=********** token=********** load={"eauth":"pam","api_key":"**********","n":1}',
    );
  });

  it('can be JSON', () => {
    const { log, lines } = memoryLogger({ format: 'json', now: () => 0 });
    log.child('auth').warn('refused', { minion: 'a', name: 'clash', password: 'x', at: 5n });
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      time: '1970-01-01T00:00:00.000Z',
      level: 'WARNING',
      name: 'salt.auth',
      process: process.pid,
      message: 'refused',
      minion: 'a',
      field_name: 'clash',
      password: '**********',
      at: '5',
    });
  });

  it('are short and without secrets as JSON too, and one line with the stack of an error', () => {
    const { log, lines } = memoryLogger({ format: 'json', level: 'info' });
    log.error('fetch failed', {
      error: new Error('no answer from https://bob:hunter2@git.example/x'),
      long: 'x'.repeat(1e6),
    });
    expect(lines[0]).not.toContain('hunter2');
    expect(lines[0]?.length).toBeLessThan(5_000);
    const open = memoryLogger({ format: 'json', level: 'debug' });
    open.log.error('failed', { error: new Error('password=hunter2\nx') });
    expect(open.lines[0]).not.toMatch(/\n|hunter2/);
    expect(JSON.parse(open.lines[0] ?? '')).toMatchObject({
      message: 'failed',
      stack: expect.stringMatching(/^Error: .* at /s),
    });
  });

  it('are text when the format is unknown, which is said', () => {
    const { lines } = memoryLogger({ format: 'xml' });
    expect(lines[0]).toContain('log_format is neither text nor json: text is used format=xml');
  });

  it('show job and minion where the layout asks for them', () => {
    const { log, lines } = memoryLogger({ fmtConsole: '%(jid)s%(minion_id)s %(message)s' });
    log.with({ jid: '2026', minion: 'web1' }).info('done');
    log.info('done');
    expect(lines).toEqual(['[JID: 2026][web1] done jid=2026 minion=web1', ' done']);
  });
});

describe('levels', () => {
  it('are those of the console', () => {
    const { log, lines } = memoryLogger({ level: 'error' });
    for (const method of ['garbage', 'trace', 'debug', 'profile', 'info', 'warn', 'error', 'critical'] as const) {
      log[method](method);
    }
    expect(lines).toEqual(['[ERROR   ] error', '[CRITICAL] critical']);
    expect(log.enabled('warn')).toBe(false);
    expect(memoryLogger({ level: 'quiet' }).log.enabled('critical')).toBe(false);
  });

  it('of single loggers apply to their child loggers, and cannot exceed the level of the console', () => {
    const { log, lines } = memoryLogger({
      level: 'info',
      granular: { salt: 'error', 'salt.auth': 'debug', 'salt.auth.pam': 'critical' },
    });
    log.warn('root');
    log.child('auth').info('auth info');
    log.child('auth').debug('auth debug');
    log.child('auth').child('ldap').info('ldap info');
    log.child('auth.pam').error('pam error');
    log.child('authority').warn('not below auth');
    expect(lines).toEqual(['[INFO    ] auth info', '[INFO    ] ldap info']);
  });

  it('can change while loggers are in use', () => {
    const { log, lines } = memoryLogger({ level: 'error' });
    const child = log.child('x');
    child.info('before');
    log.setLevels({ level: 'info' });
    child.info('after');
    log.setLevels({ granular: { salt: 'critical' } });
    child.info('restricted');
    expect(lines).toEqual(['[INFO    ] after']);
  });

  it('warn about unknown names, invalid layouts and insecure levels', () => {
    const { lines } = memoryLogger({ level: 'debug', levelLogfile: 'loud', fmtConsole: '%s', warnInsecure: true });
    expect(lines).toEqual([
      '[WARNING ] unknown log level, error is used level=loud',
      '[WARNING ] invalid log layout, the default is used format=%s',
      '[WARNING ] Insecure logging configuration detected! Sensitive data may be logged.',
    ]);
  });

  it('come from the options', () => {
    const lines: string[] = [];
    const log = createLoggerFromOpts(
      {
        log_level: 'warning',
        log_level_logfile: null,
        log_file: null,
        log_format: 'text',
        log_fmt_console: '%(name)s %(message)s',
        log_fmt_logfile: '%(message)s',
        log_fmt_jid: null,
        log_fmt_minion_id: null,
        log_datefmt: '%H',
        log_datefmt_logfile: '%H',
        log_granular_levels: new Map<unknown, unknown>([
          ['salt.loud', 'error'],
          [1, {}],
        ]),
      },
      {
        consoleSink: {
          write: (line) => void lines.push(line),
          flush: async () => {},
          flushSync: () => {},
          reopen: () => {},
          close: async () => {},
        },
      },
    );
    log.child('loud').warn('no');
    log.child('other').warn('yes');
    expect(lines).toEqual(['salt.other yes']);
  });

  it('are dropped by the null logger', () => {
    expect(nullLogger().enabled('critical')).toBe(false);
    nullLogger().critical('nowhere');
    expect(createLogger({ console: false }).enabled('critical')).toBe(false);
  });
});

describe('limited lines', () => {
  it('are written once a minute per key, with the number of suppressed lines', () => {
    let now = 0;
    const { log, lines } = memoryLogger({ now: () => now });
    for (let i = 0; i < 5; i++) log.limited('peer:a', 'warn', 'bad', { peer: 'a' });
    log.child('x').limited('peer:a', 'warn', 'bad');
    log.limited('peer:b', 'warn', 'bad', { peer: 'b' });
    now = 60_000;
    log.limited('peer:a', 'warn', 'bad', { peer: 'a' });
    log.limited('peer:a', 'warn', 'bad', { peer: 'a' });
    now = 120_000;
    log.limited('peer:b', 'info', 'bad', { peer: 'b' });
    expect(lines).toEqual([
      '[WARNING ] bad peer=a',
      '[WARNING ] bad peer=b',
      '[WARNING ] bad peer=a suppressed=5',
      '[INFO    ] bad peer=b',
    ]);
  });

  it('do not fill the memory with keys sent by peers', () => {
    const limiter = new Limiter(1000);
    for (let i = 0; i < 25_000; i++) limiter.admit(`k${i}`, 0);
    expect(limiter.size).toBeLessThanOrEqual(10_000);
    expect(limiter.admit('k24999', 500)).toBeUndefined();
    expect(limiter.admit('k24999', 1000)).toBe(1);
  });

  it('of one message are bounded in number, for any keys', () => {
    vi.useFakeTimers();
    const { log, lines } = memoryLogger();
    for (let i = 0; i < 5000; i++) for (let n = 0; n < 2; n++) log.limited(`peer:${i}`, 'warn', 'refused', { peer: i });
    const refused = lines.length;
    expect(refused).toBeLessThan(100);
    log.limited('x', 'warn', 'another message');
    expect(lines.at(-1)).toBe('[WARNING ] another message');
    vi.advanceTimersByTime(60_000);
    expect(lines.at(-1)).toBe(`[WARNING ] refused others=${5000 - refused}`);
    vi.useRealTimers();
  });

  it('do not keep a long text of a peer in memory', () => {
    const limiter = new Limiter(1000);
    limiter.admit(`a${'x'.repeat(1_000_000)}`, 0);
    expect(limiter.admit(`a${'x'.repeat(2_000_000)}`, 0)).toBeUndefined();
  });

  it('survive a clock that is set back', () => {
    const limiter = new Limiter(1000);
    limiter.admit('k', 1_000_000);
    expect(limiter.admit('k', 10)).toBe(0);
  });
});
