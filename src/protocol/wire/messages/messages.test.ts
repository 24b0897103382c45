// Message readers: real messages are read, hostile ones are refused without throwing.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pack, unpack } from '../../../base/codec/msgpack/index.ts';
import { type Dict, dictOf, isDict, newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import { exitCode } from '../../job/job-return.ts';
import { authLoad, readAuthAnswer, readAuthReply, readAuthRequest } from './auth.ts';
import { readAskedJob, readClearCommand } from './clear.ts';
import { isProblem, type Problem } from './fields.ts';
import { jobFields, readPublishedJob } from './job.ts';
import { readJobReturn, readSyndicReturns, returnMessage } from './job-return.ts';
import * as loads from './minion-loads.ts';
import { publishEnvelopeValue, readPublishEnvelope } from './publish.ts';
import { isRetryLater, readPillarContent, readPillarReply, readSignedPillar } from './reply.ts';
import { envelopeValue, readEnvelope, readOpenedLoad } from './request.ts';

/** Through the wire, where bytes that are valid UTF-8 become text. */
const sent = (value: Value): Value => unpack(pack(value));
const dict = (value: object): Dict => sent(value as Value) as Dict;
const plain = (value: object): PlainDict => newDict(Object.entries(value));
const good = <T extends object>(value: T | Problem): T => {
  if (isProblem(value)) throw new Error(value.problem);
  return value as T;
};

/** Input that is not an envelope may be refused by an error of the codec, and by no other error. */
const refusing = (read: () => unknown): void => {
  try {
    read();
  } catch (error) {
    expect(error).toMatchObject({ code: expect.stringMatching(/^codec\./) });
  }
};

describe('requests', () => {
  it('reads envelopes of every generation', () => {
    expect(readEnvelope(pack({ enc: 'aes', load: 'plain text bytes' }))).toMatchObject({ version: 0, id: undefined });
    const p3 = { enc: 'aes', load: Buffer.from([0xff]), version: 3, id: 'web1', enc_algo: 'a', sig_algo: 'b' } as const;
    expect(readEnvelope(pack(envelopeValue(p3)))).toEqual({ ...p3, load: Buffer.from([0xff]) });
    const clear = good(readEnvelope(pack({ enc: 'clear', load: { cmd: 'ping' }, version: 3 })));
    expect(clear.enc).toBe('clear');
  });

  it('turns binary fields back to bytes when they arrived as text', () => {
    const envelope = good(readEnvelope(pack({ enc: 'aes', load: Buffer.from('valid utf-8 ü') })));
    expect(envelope.load).toEqual(Buffer.from('valid utf-8 ü'));
    expect(good(readOpenedLoad(dict({ cmd: '_return', id: 'a', tok: Buffer.from('abc') }))).tok).toEqual(
      Buffer.from('abc'),
    );
  });

  it('refuses with the texts Salt uses', () => {
    const reply = (value: Value) => (readEnvelope(pack(value)) as Problem).reply;
    expect(reply('x')).toBe('bad load');
    expect(reply(newDict([['enc', 'aes']]))).toBe('bad load');
    expect(reply(dict({ enc: 'clear', load: 'x' }))).toBe('payload and load must be a dict');
    expect(reply(dict({ enc: 'pub', load: 'x' }))).toBe('bad load');
    expect((readOpenedLoad(dict({ id: 5 })) as Problem).reply).toBe('bad load: id 5 is not a string');
    expect((readOpenedLoad(dict({ id: 'a\0' })) as Problem).reply).toBe('bad load: id contains a null byte');
    expect((readOpenedLoad(dict({ id: 'a'.repeat(256) })) as Problem).reply).toBe('bad load: id is too long');
    expect((readAuthRequest(dict({ id: 'a', nonce: 'n'.repeat(200) })) as Problem).reply).toBe('bad load');
  });

  it('keeps no long values of an unauthenticated peer', () => {
    const sealed = { enc: 'aes', load: Buffer.alloc(100_000, 0xfe), version: 3, id: 'x'.repeat(100_000) };
    const envelope = good(readEnvelope(pack(sealed)));
    expect(envelope).toMatchObject({ enc: 'aes', id: undefined });
    expect(envelope.load).toEqual(sealed.load);
  });
});

describe('sign-in', () => {
  it('reads what it writes', () => {
    const request = {
      id: 'web1',
      pub: '-----BEGIN PUBLIC KEY-----',
      token: Buffer.from([1, 0xff]),
      nonce: 'n'.repeat(32),
      enc_algo: 'OAEP-SHA1',
      sig_algo: 'PKCS1v15-SHA1',
      autosign_grains: undefined,
      halite: true,
      nextKey: true,
      wantsSig: false,
    };
    expect(readAuthRequest(sent(authLoad(request)))).toEqual(request);
  });

  it('distinguishes the kinds of answers', () => {
    const kind = (value: object | string) => good(readAuthReply(sent(value as Value))).kind;
    expect(kind('bad load')).toBe('text');
    expect(kind({ enc: 'clear', load: pack({ ret: true }), sig: Buffer.from([0xff]) })).toBe('signed');
    expect(kind({ enc: 'clear', load: { ret: 'bad enc algo' } })).toBe('unsigned');
    expect(kind({ enc: 'pub', pub_key: 'x', aes: Buffer.from([0xff]), sig: Buffer.from([0xfe]) })).toBe('unsigned');
    expect(isProblem(readAuthReply(sent({ enc: 'clear' })))).toBe(true);
    expect(readAuthAnswer(dict({ ret: false, nonce: 'n' }))).toMatchObject({ ret: false, nonce: 'n', aes: undefined });
    expect(readAuthAnswer(dict({ aes: 'abc', publish_port: 4505 }))).toMatchObject({
      aes: Buffer.from('abc'),
      publish_port: 4505,
    });
  });
});

describe('loads of minions', () => {
  it('reads returns, also of multi-function jobs', () => {
    const load = dict({ id: 'a', jid: '1', fun: 'test.ping', return: true, retcode: 0, success: true, fun_args: [] });
    expect(readReturn(load)).toMatchObject({ id: 'a', jid: '1', return: true, retcode: 0, success: true });
    const many = dict({ id: 'a', jid: '1', return: {}, retcode: { 'test.ping': 0, 'test.false': 2 } });
    expect(exitCode(readReturn(many))).toBe(2);
    expect(isProblem(readJobReturn(dict({ id: 'a', jid: '1' })))).toBe(true);
    expect(readReturn(dict({ id: 'a', jid: '1', return: null })).return).toBeNull();
  });
  const readReturn = (load: Dict) => good(readJobReturn(load));

  it('reads events in both forms', () => {
    const single = dict({ id: 'a', tag: 'my/tag', data: { x: 1 }, cmd: '_minion_event', pretag: null });
    expect(loads.readMinionEvents(single)).toEqual([{ tag: 'my/tag', data: single }]);
    const list = dict({ id: 's', pretag: 'syndic/s', events: [{ tag: 't', data: { x: 1 } }, 5, { data: {} }] });
    const events = good(loads.readMinionEvents(list)) as readonly loads.MinionEvent[];
    expect(events.map((event) => event.tag)).toEqual(['t', 'syndic/s/t']);
  });

  it('reads the other loads', () => {
    expect(
      loads.readPillarFields(dict({ grains: { os: 'x' }, env: 'dev', ver: '2', clean_cache: true })),
    ).toMatchObject({
      saltenv: 'dev',
      cleanCache: true,
      pillarenv: undefined,
    });
    expect(loads.readPillarFields(dict({ grains: 5, saltenv: [], pillar_override: {} }))).toMatchObject({
      grains: {},
      saltenv: undefined,
      override: undefined,
    });
    expect(loads.readMineQuery(dict({ tgt: '*', fun: 'a.b, c.d', expr_form: 'Grain' }))).toEqual({
      tgt: '*',
      tgt_type: 'grain',
      fun: ['a.b', 'c.d'],
      single: false,
    });
    expect(loads.readMineUpdate(dict({ data: { a: 1 }, clear: true }))).toMatchObject({ clear: true });
    expect(loads.readPeerPublish(dict({ tgt: 'b', fun: 'test.ping', tmo: 3, form: 'full' }))).toMatchObject({
      timeout: 3,
      full: true,
    });
    expect(loads.readPeerRunner(dict({ fun: 'jobs.active' }))).toEqual({ fun: 'jobs.active', arg: [] });
    const part = { id: 's', jid: '1', fun: 'f', return: { a: { return: true } } };
    expect(readSyndicReturns(dict({ load: [part, 'x', {}] }))).toHaveLength(1);
    expect(readSyndicReturns(dict(part))).toHaveLength(1);
  });
});

describe('publishes and clear commands', () => {
  it('preserves a job over the wire, with unknown fields', () => {
    const job = good(
      readPublishedJob(
        dict({
          jid: '1',
          fun: 'test.ping',
          arg: [],
          tgt: '*',
          tgt_type: 'glob',
          ret: '',
          serial: 7,
          metadata: { a: 1 },
          later: true,
        }),
      ),
    );
    expect(job.options).toEqual({ metadata: { a: 1 } });
    expect(job.extra).toEqual(dict({ later: true }));
    expect(readPublishedJob(sent(jobFields(job)))).toEqual(job);
    expect(isProblem(readPublishedJob(dict({ jid: '1', fun: 'x', tgt: '*' })))).toBe(true);
  });

  it('never lets an unknown field replace a known field of a job', () => {
    const job = { jid: '1', fun: 'test.ping', arg: [], tgt: '*', tgt_type: 'glob' };
    const extra = plain({ fun: 'cmd.run', arg: ['id'], jid: '2', cmd: '_return', id: 'x', later: 1 });
    expect(jobFields({ ...job, extra })).toEqual(dict({ ...job, later: 1 }));
    const ret = { id: 'a', jid: '1', fun: 'test.ping', return: true };
    const more = plain({ id: 'b', jid: '2', return: false, returners: { names: ['x'] }, later: 1 });
    expect(returnMessage({ ...ret, extra: more })).toEqual(dict({ cmd: '_return', ...ret, later: 1 }));
  });

  it('uses the authenticated facts of a result, not those in the load', () => {
    const load = dict({
      id: 'b',
      jid: '2',
      fun: 'cmd.run',
      return: 7,
      returners: { names: ['x', 5, 'x'], config: 'c' },
    });
    const ret = good(readJobReturn(load, { id: 'a', jid: '1', fun: 'test.ping' }));
    expect(ret).toMatchObject({ id: 'a', jid: '1', fun: 'test.ping', return: 7, extra: {} });
    expect(ret.returners).toEqual({ names: ['x'], config: 'c' });
    expect(readJobReturn(sent(returnMessage(ret)) as Dict)).toEqual(ret);
  });

  it('reads a result with unusable options as the same result after writing', () => {
    const ret = good(
      readJobReturn(dict({ id: 'a', jid: '1', fun: 'test.ping', return: 7, master_id: 5, metadata: null })),
    );
    expect(readJobReturn(sent(returnMessage(ret)) as Dict)).toEqual(ret);
    expect(ret.options).toBeUndefined();
  });

  it('reads publish envelopes', () => {
    const envelope = { load: Buffer.from([0xfe]), sig: Buffer.from([0xff]), sig_algo: 'PKCS1v15-SHA1' };
    expect(readPublishEnvelope(sent(publishEnvelopeValue(envelope)))).toEqual(envelope);
    expect(readPublishEnvelope(sent({ enc: 'aes', load: 'abc' }))).toEqual({
      load: Buffer.from('abc'),
      sig: undefined,
      sig_algo: undefined,
    });
  });

  it('finds credentials where each command has them', () => {
    const publish = {
      cmd: 'publish',
      tgt: '*',
      fun: 'test.ping',
      jid: '',
      user: 'root',
      key: 'k',
      kwargs: { token: 't' },
    };
    expect(readClearCommand(dict(publish))).toEqual({
      cmd: 'publish',
      job: { tgt: '*', tgt_type: 'glob', fun: 'test.ping', arg: [], ret: '', options: {} },
      credentials: { token: 't', user: 'root', key: 'k' },
    });
    expect(readClearCommand(dict({ cmd: 'runner', fun: 'jobs.active', token: 't' }))).toMatchObject({
      cmd: 'runner',
      credentials: { token: 't' },
    });
    expect(readClearCommand(dict({ cmd: '__class__' }))).toEqual({ cmd: 'unknown', name: '__class__' });
  });
});

describe('the job of a publish', () => {
  const read = (load: Record<string, unknown>) =>
    readAskedJob(dict({ tgt: '*', fun: 'test.ping', ...load }), ['metadata', 'ret_kwargs']);

  it('consists of its known fields: others never replace them', () => {
    const kwargs = {
      fun: 'cmd.run',
      arg: ['id'],
      tgt: 'x',
      user: 'root',
      jid: '1',
      ret: 'mysql',
      metadata: 7,
      id: 'm',
    };
    expect(read({ kwargs })).toEqual({
      ...{ tgt: '*', tgt_type: 'glob', fun: 'test.ping', arg: [], ret: '' },
      options: { metadata: 7 },
    });
  });

  it.each([
    [{ fun: [] }, 'no function'],
    [{ fun: '' }, 'no function'],
    [{ fun: ['test.ping', ''] }, 'no function'],
    [{ fun: 7 }, 'no function'],
    [{ fun: Array(1001).fill('test.ping') }, 'more than 1000'],
    [{ tgt: [7] }, 'target'],
    [{ arg: 'x' }, 'not a list'],
    [{ fun: ['a.b', 'c.d'], arg: ['x', 'y'] }, 'a list of arguments for each'],
    [{ fun: ['a.b'], arg: [[], []] }, 'a list of arguments for each'],
  ])('is refused when it is %j', (load, why) => {
    expect(read(load)).toMatchObject({ problem: expect.stringContaining(why) });
  });

  it('has one list of arguments for each of several functions', () => {
    expect(read({ fun: 'a.b,c.d', arg: [['x']] })).toMatchObject({ fun: ['a.b', 'c.d'], arg: [['x'], []] });
  });
});

describe('pillar replies', () => {
  it('reads the layers', () => {
    expect(readPillarReply(dict({ key: 'k', pillar: 'p' }))).toEqual({
      key: Buffer.from('k'),
      pillar: Buffer.from('p'),
    });
    expect(readPillarReply(dict({ error: 'no' }))).toMatchObject({ problem: 'the master refused: no' });
    expect(readSignedPillar(dict({ data: 'd', sig: 's' }))).toEqual({ data: Buffer.from('d'), sig: Buffer.from('s') });
    expect(readPillarContent(dict({ key: 'k', nonce: 'n', pillar: {} }))).toMatchObject({ nonce: 'n' });
    expect(isRetryLater(dict({ enc: 'clear', load: { ret: false, cluster_retry: true } }))).toBe(true);
  });
});

describe('hostile input', () => {
  const keys = [
    'enc',
    'load',
    'id',
    'cmd',
    'version',
    'events',
    'tag',
    'data',
    'return',
    'jid',
    'fun',
    'tgt',
    'arg',
    'ret',
  ];
  const { value } = fc.letrec<{ value: Value }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<Value>(null, true, false, 0, -1, 3, 2n ** 63n, 'aes', 'clear', 'publish', '__proto__', ''),
      fc.string(),
      fc.uint8Array(),
      fc.array(tie('value')),
      fc
        .array(fc.tuple(fc.oneof(fc.constantFrom(...keys), fc.string(), fc.integer()), tie('value')))
        .map((entries) => dictOf(entries)),
    ),
  }));

  it('never makes a reader throw', () => {
    const any = [
      (given: Value) => refusing(() => readEnvelope(pack(given))),
      readOpenedLoad,
      readAuthRequest,
      readAuthReply,
      readAuthAnswer,
      readPublishEnvelope,
      readPublishedJob,
      readPillarReply,
      readSignedPillar,
      readPillarContent,
      isRetryLater,
    ];
    const ofDict = [readClearCommand, readJobReturn, readSyndicReturns, ...Object.values(loads)] as ((
      load: Dict,
    ) => unknown)[];
    fc.assert(
      fc.property(value, (given) => {
        for (const read of any) read(given);
        if (isDict(given)) for (const read of ofDict) read(given);
      }),
      { numRuns: 500 },
    );
  });
});
