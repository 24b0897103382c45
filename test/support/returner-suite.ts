// What every returner must do, whatever lies behind it: one suite, run against each of them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newDict, type PlainDict, type Value } from '../../src/base/codec/value.ts';
import { type OpenReturner, openReturner } from '../../src/engine/exec/returners/index.ts';
import { Loader } from '../../src/extend/loader/index.ts';
import type { ReturnerSession, StoredEvent } from '../../src/extend/sdk/index.ts';

export interface ReturnerUnderTest {
  readonly name: string;
  /** Configuration as a minion's file has it (`mysql.host: …`); asked for when the server runs. */
  options(): Readonly<Record<string, Value>>;
  /** Starts the server; false skips the suite (it could not be installed). */
  start?(): Promise<boolean>;
  stop?(): Promise<void>;
  /** Has a job cache (default: yes). */
  readonly jobCache?: boolean;
  /** Keeps events; they are read back by this. */
  events?(): Promise<StoredEvent[]>;
  /** Finds events again that a killed master wrote without knowing. */
  readonly eventsOnce?: boolean;
  /** Return loads of a job read around the returner, for those without a job cache, and to see doubles in those with one. */
  stored?(jid: string): Promise<PlainDict[]>;
  /** A result written twice is there twice: logs and messages (default: no). */
  readonly appends?: boolean;
  /** Sizes beyond this cannot be kept (default: 1 MB). */
  readonly largest?: number;
  /** What becomes of names in results (default: nothing). */
  readonly renamed?: (key: string) => string;
  /** Stops and starts the server, keeping its data. */
  readonly server?: () => { pause(): Promise<void>; start(): Promise<void> };
  /** Job loads are kept only in part; the fields that are. */
  readonly loadFields?: readonly string[];
}

const dict = (value: Record<string, Value>): PlainDict => newDict(Object.entries(value));

/** A return load as a minion sends it. */
export function someReturn(jid: string, id: string, changes: Record<string, Value> = {}): PlainDict {
  return dict({
    cmd: '_return',
    id,
    success: true,
    return: true,
    retcode: 0,
    jid,
    fun: 'test.ping',
    fun_args: [],
    ...changes,
  });
}

/** A job load as a master saves it. */
export function someLoad(jid: string, changes: Record<string, Value> = {}): PlainDict {
  return dict({
    ...{ cmd: 'publish', jid, fun: 'test.ping', arg: [], kwargs: newDict() },
    ...{ tgt: '*', tgt_type: 'glob', ret: '', user: 'root', ...changes },
  });
}

let counter = 0;
/** Job ids of now, each once. */
export function nextJid(): string {
  const stamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14);
  return `${stamp}${String(100_000 + ++counter)}`;
}

const unicode = 'Grüße 世界 \u{1f9c2}\nline 2\t"quoted" \\ back';

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** Opens a returner as minions do, with what is in the source tree. */
export function openForTest(
  name: string,
  opts: Readonly<Record<string, Value>>,
  more: Pick<OpenReturner, 'config' | 'kwargs' | 'call'> = {},
): Promise<ReturnerSession> {
  const warn = (message: string) => {
    throw new Error(`the returner warned: ${message}`);
  };
  const log = { debug: () => undefined, info: () => undefined, warn, error: warn };
  const all = { id: 'suite-master', cachedir: '/nonexistent', ...opts };
  const loader = new Loader({ opts: () => all, grains: () => newDict(), log, userCode: 'names' });
  const signal = new AbortController().signal;
  return openReturner(loader, name, {
    id: 'suite-master',
    opts: all,
    grains: newDict(),
    pillar: newDict(),
    log,
    signal,
    ...more,
  });
}

/** The suite for one returner. */
export function returnerSuite(target: ReturnerUnderTest): void {
  const hasCache = target.jobCache !== false;
  let session: ReturnerSession;
  let there = true;
  const open = () => openForTest(target.name, target.options());
  const readBack = async (jid: string): Promise<PlainDict[]> => {
    if (target.stored) return target.stored(jid);
    return [...(await session.jobCache!.returns(jid)).values()];
  };

  describe(`returner ${target.name}`, () => {
    beforeAll(async () => {
      there = (await target.start?.()) ?? true;
      if (there) session = await open();
    });
    afterAll(async () => {
      await session?.close?.();
      await target.stop?.();
    });
    const test = (name: string, run: () => Promise<void>) =>
      it(name, async (context) => (there ? run() : context.skip()));

    test('says what it keeps', async () => {
      const opts = target.options();
      const loader = new Loader({ opts: () => opts, grains: () => newDict(), log: silent, userCode: 'names' });
      const keeps = (await loader.get('returners', target.name))?.extension.keeps ?? [];
      expect(keeps.includes('jobs')).toBe(session.jobCache !== undefined);
      expect(keeps.includes('events')).toBe(session.saveEvents !== undefined);
    });

    test('keeps a result', async () => {
      const jid = nextJid();
      await session.save(someReturn(jid, 'web1', { return: dict({ 'a.b': unicode, n: 1, ok: true, none: null }) }));
      const [kept, ...more] = await readBack(jid);
      expect(more).toEqual([]);
      const dotted = target.renamed?.('a.b') ?? 'a.b';
      expect(kept).toMatchObject({ return: { [dotted]: unicode, n: 1, ok: true, none: null } });
    });

    test('keeps many results, once however often they come', async () => {
      const jid = nextJid();
      const rets = ['a', 'b', 'c'].map((id) => someReturn(jid, id, { return: `from ${id}` }));
      const all = async () => {
        if (session.saveMany) await session.saveMany(rets);
        else for (const ret of rets) await session.save(ret);
      };
      await all();
      if (!target.appends) {
        await all();
        await session.save(rets[0]!);
      }
      const texts = (await readBack(jid)).map((ret) => ret['return']).sort();
      expect(texts).toEqual(['from a', 'from b', 'from c']);
    });

    test('keeps large results', async () => {
      const jid = nextJid();
      const text = 'x'.repeat(target.largest ?? 1_000_000);
      await session.save(someReturn(jid, 'big', { return: text }));
      expect((await readBack(jid))[0]?.['return'] === text).toBe(true);
    });

    if (hasCache) cacheTests(test, () => session, target);
    if (target.events) eventTests(test, () => session, target.events, target.eventsOnce === true);
    if (target.server) awayTests(test, open, () => session, readBack, target.server);
  });
}

type Test = (name: string, run: () => Promise<void>) => void;

function cacheTests(test: Test, session: () => ReturnerSession, target: ReturnerUnderTest): void {
  const cache = () => {
    const { jobCache } = session();
    if (!jobCache) throw new Error(`${target.name} has no job cache`);
    return jobCache;
  };
  test('keeps jobs and finds them again', async () => {
    const jid = nextJid();
    const load = someLoad(jid, { arg: [unicode], fun: 'test.echo' });
    await cache().saveLoad(jid, load, ['web1', 'web2']);
    await cache().saveLoad(jid, load, ['web1', 'web2']);
    const wanted = Object.fromEntries(Object.entries(load).filter(([key]) => target.loadFields?.includes(key) ?? true));
    expect(await cache().load(jid)).toMatchObject(wanted);
    expect(await cache().load('20010101000000000000')).toBeUndefined();
    expect((await cache().jids()).get(jid)).toMatchObject(wanted);
  });

  test('finds returns by job, function and minion', async () => {
    const [first, second] = [nextJid(), nextJid()];
    const fun = `suite.f${second.slice(-6)}`;
    for (const [jid, answer] of [
      [first, 'old'],
      [second, 'new'],
    ] as const) {
      await cache().saveLoad(jid, someLoad(jid, { fun }), ['finder']);
      await session().save(someReturn(jid, 'finder', { fun, return: answer, retcode: 2, success: false }));
    }
    const returns = await cache().returns(first);
    expect([...returns.keys()]).toEqual(['finder']);
    expect(returns.get('finder')).toMatchObject({ return: 'old' });
    expect((await cache().lastOf(fun)).get('finder')).toMatchObject({ return: 'new' });
    expect((await cache().lastOf('suite.never')).size).toBe(0);
    expect(await cache().minions()).toContain('finder');
    expect((await cache().returns('20010101000000000000')).size).toBe(0);
  });
}

function eventTests(
  test: Test,
  session: () => ReturnerSession,
  read: () => Promise<StoredEvent[]>,
  once: boolean,
): void {
  test('keeps events in order', async () => {
    const mark = nextJid();
    const events = [1, 2, 3].map((n) => ({
      tag: `suite/${mark}/${n}`,
      data: dict({ n, text: unicode, _stamp: 'now' }),
    }));
    await session().saveEvents!(events);
    await session().saveEvents!([]);
    const kept = (await read()).filter((event) => event.tag.startsWith(`suite/${mark}/`));
    expect(kept.map((event) => event.tag)).toEqual(events.map((event) => event.tag));
    expect(kept[2]?.data).toMatchObject({ n: 3, text: unicode });
  });

  if (!once) return;
  test('writes an event once that it may have written already', async () => {
    const mark = nextJid();
    const event = (n: number, again: boolean) => ({
      tag: `suite/${mark}`,
      data: dict({ n, text: unicode, list: [1.5, null, dict({ deep: true })] }),
      again,
    });
    await session().saveEvents!([1, 2].map((n) => event(n, false)));
    await session().saveEvents!([...[1, 2, 3].map((n) => event(n, true)), event(2, false)]);
    const kept = (await read()).filter((each) => each.tag === `suite/${mark}`);
    expect(kept.map((each) => each.data['n'])).toEqual([1, 2, 3, 2]);
  });
}

function awayTests(
  test: Test,
  open: () => Promise<ReturnerSession>,
  session: () => ReturnerSession,
  readBack: (jid: string) => Promise<PlainDict[]>,
  server: () => { pause(): Promise<void>; start(): Promise<void> },
): void {
  test('says that its server is away, and works again when it is back', async () => {
    const jid = nextJid();
    await server().pause();
    try {
      await expect(session().save(someReturn(jid, 'lost'))).rejects.toThrow();
      const late = open().then(async (other) => other.save(someReturn(jid, 'lost')).finally(() => other.close?.()));
      await expect(late).rejects.toThrow();
    } finally {
      await server().start();
    }
    const again = async () => {
      await session().save(someReturn(jid, 'found'));
      return true;
    };
    // The same session, as long as it takes to notice.
    await expect.poll(() => again().catch(() => false), { timeout: 30_000, interval: 100 }).toBe(true);
    expect((await readBack(jid)).length).toBeGreaterThan(0);
  });
}
