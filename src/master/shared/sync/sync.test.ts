// Folders of one member given to others: only what is missing travels, the served tree is the old or the new one, and an
// offer that is not what it should be is refused as a whole.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import { nullLogger } from '../../../base/log/index.ts';
import { Fabric, type FabricMember } from '../testing.ts';
import { RootSync } from './sync.ts';

let folder: string;
let fabric: Fabric;
let m1: { member: FabricMember; sync: RootSync };
const at = (...parts: string[]): string => join(folder, ...parts);

function put(path: string, text: string | Buffer, mode = 0o644): void {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
  chmodSync(at(path), mode);
}
const read = (path: string): string => readFileSync(at(path), 'utf8');

function joining(id: string, roots: PlainDict = newDict([['base', [at(id, 'salt')]]])) {
  const member = fabric.join(id);
  const raw = newDict([
    ['file_roots', roots] as const,
    ['pillar_roots', newDict([['base', [at(id, 'pillar')]]])] as const,
  ]);
  return { member, sync: new RootSync({ cluster: member, raw, log: nullLogger() }) };
}
const run = async (more: object = {}) =>
  (await m1.sync.run({ dryRun: false, ...more })) as { told: Record<string, Record<string, string>>; failed: boolean };

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'halite-roots-')));
  fabric = new Fabric();
  m1 = joining('m1');
  put('m1/salt/top.sls', 'base: {}\n');
  put('m1/salt/web/run.sh', '#!/bin/sh\n', 0o755);
  put('m1/salt/web/large', Buffer.alloc(700_000, 'x'));
  put('m1/salt/web/same', Buffer.alloc(700_000, 'x'));
  put('m1/salt/web/nothing', '');
  put('m1/salt/bytes', Buffer.from([0, 255, 128, 10]));
  put('m1/pillar/top.sls', 'base: {secret: 1}\n', 0o600);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a member', () => {
  it('gets what it lacks, keeps the old tree beside, and is equal afterwards', async () => {
    joining('m2');
    put('m2/salt/top.sls', 'base: {}\n');
    put('m2/salt/old.sls', 'x');
    const dry = await run({ dryRun: true });
    expect(dry.failed).toBe(false);
    expect(dry.told['m2']?.['files base']).toMatch(/^would change: 6 added \(bytes.*\), 1 removed \(old\.sls\)$/);
    expect(readdirSync(at('m2/salt')).sort()).toEqual(['old.sls', 'top.sls']);
    expect((await run()).told['m2']?.['files base']).toMatch(/; before: .*m2\/\.salt\.halite-before$/);
    for (const path of ['top.sls', 'web/run.sh', 'web/large', 'web/same', 'web/nothing', 'bytes']) {
      expect(readFileSync(at('m2/salt', path)).equals(readFileSync(at('m1/salt', path)))).toBe(true);
      expect(statSync(at('m2/salt', path)).mode).toBe(statSync(at('m1/salt', path)).mode);
    }
    expect(statSync(at('m2/pillar/top.sls')).mode & 0o777).toBe(0o600);
    expect(readdirSync(at('m2')).sort()).toEqual(['.salt.halite-before', 'pillar', 'salt']);
    expect(read('m2/.salt.halite-before/old.sls')).toBe('x');
    expect(await run()).toEqual({ told: { m2: { 'files base': 'equal', 'pillar base': 'equal' } }, failed: false });
  });

  it('does it for one environment, one kind and some members only', async () => {
    for (const id of ['m2', 'm3']) joining(id);
    expect(await run({ only: 'pillar', members: ['m3'] })).toMatchObject({
      told: { m3: { 'pillar base': expect.stringMatching(/^1 added/) } },
    });
    expect([existsSync(at('m3/salt')), existsSync(at('m2/pillar'))]).toEqual([false, false]);
    await expect(run({ members: ['m4'] })).rejects.toThrow(/'m4' is no other live member/);
    await expect(run({ env: 'dev' })).rejects.toThrow(/no plain folder in the environment dev/);
  });

  it.each([
    [
      'other folders',
      () => joining('m2', newDict([['base', [at('m2/salt'), at('m2/more')]]])),
      /2 folders for base, the other master 1/,
    ],
    ['another environment', () => joining('m2', newDict([['dev', [at('m2/salt')]]])), /no environment base/],
    ['a checkout', () => put('m2/salt/.git/HEAD', ''), /a checkout of git/],
    [
      'a folder in a folder',
      () =>
        joining(
          'm2',
          newDict([
            ['base', [at('m2/salt')]],
            ['dev', [at('m2')]],
          ]),
        ),
      /lies inside .*m2, which is served too/,
    ],
    ['a file', () => put('m2/salt', ''), /it is no folder/],
  ])('with %s is left as it is, and says why', async (_name, prepare, why) => {
    if (prepare() === undefined) joining('m2');
    const { told, failed } = await run({ only: 'files' });
    expect([told['m2']?.['files base'], failed]).toEqual([expect.stringMatching(why), true]);
  });

  it('goes on where an earlier try ended, and ends a switch that was interrupted', async () => {
    joining('m2');
    put('m2/salt/top.sls', 'old');
    const { createHash } = await import('node:crypto');
    const digest = createHash('sha256')
      .update(readFileSync(at('m1/salt/web/large')))
      .digest('hex');
    put(`m2/.salt.halite-sync/objects/${digest}`, readFileSync(at('m1/salt/web/large')));
    put(`m2/.salt.halite-sync/objects/${'0'.repeat(64)}`, 'not wanted');
    put('m2/.salt.halite-sync/tree/half', 'x');
    expect((await run()).failed).toBe(false);
    expect(readdirSync(at('m2')).sort()).toEqual(['.salt.halite-before', 'pillar', 'salt']);
    // Between the two renames.
    renameSync(at('m2/salt'), at('m2/.salt.halite-ready'));
    mkdirSync(at('m2/.salt.halite-sync'));
    joining('m2');
    expect(read('m2/salt/top.sls')).toBe('base: {}\n');
    // Before the second tree was complete.
    renameSync(at('m2/salt'), at('m2/gone'));
    joining('m2');
    expect(read('m2/salt/top.sls')).toBe('old');
    // Removed by an operator: not the doing of an interrupted switch.
    rmSync(at('m2/.salt.halite-sync'), { recursive: true });
    renameSync(at('m2/salt'), at('m2/.salt.halite-before'));
    joining('m2');
    expect(existsSync(at('m2/salt'))).toBe(false);
  });
});

it('gives no links, devices or strange names, and no history of git', async () => {
  joining('m2');
  put('m1/salt/.git/HEAD', 'x');
  symlinkSync('/etc/passwd', at('m1/salt/link'));
  put('m1/salt/bad\nname', 'x');
  await expect(run()).rejects.toThrow(
    /"bad\\nname" is no usable name; .*link is a link|link is a link; .*"bad\\nname"/,
  );
  rmSync(at('m1/salt/link'));
  rmSync(at('m1/salt/bad\nname'));
  expect((await run()).failed).toBe(false);
  expect(existsSync(at('m2/salt/.git'))).toBe(false);
});

describe('an offer', () => {
  const digest = 'a'.repeat(64);
  const file = (path: Value, ...more: Value[]): Value => [[path, ...(more.length > 0 ? more : [1, 420, 0, digest])]];
  /** What a member that is not what it should be gives as its files. */
  async function offered(list: Value | (() => AsyncIterable<Value>), content: Value[] = []): Promise<string> {
    const bad = fabric.join('bad');
    bad.signals.answer('files', async function* (body) {
      const isList = !('digests' in (body as PlainDict));
      if (!isList) yield* content;
      else if (typeof list === 'function') yield* list();
      else yield list;
    });
    joining('m2');
    put('m2/salt/top.sls', 'old');
    const roots = [{ kind: 'files', env: 'base', index: 0, count: 1 }];
    let said = '';
    for await (const item of bad.signals.ask(
      'm2',
      'sync',
      { session: 's', roots, dry_run: false },
      { timeoutMs: 20_000 },
    ))
      said = String((item as PlainDict)['error'] ?? '');
    expect(read('m2/salt/top.sls')).toBe('old');
    expect(readdirSync(folder).sort()).toEqual(['m1', 'm2']);
    return said;
  }

  it.each<[string, Value, RegExp]>([
    ['a path that leaves the folder', file('../x'), /the path '\.\.\/x'/],
    ['one that is absolute', file('/etc/passwd'), /the path '\/etc\/passwd'/],
    ['one with an empty part', file('a//b'), /the path/],
    ['one with a line break', file('a\nb'), /the path/],
    ['one of git', file('.git/config'), /the path/],
    ['one too deep', file(`${'a/'.repeat(70)}b`), /the path/],
    ['a path that is a number', file(7), /the path '7'/],
    [
      'the same twice',
      [
        ['a', 1, 420, 0, digest],
        ['a', 1, 420, 0, digest],
      ],
      /twice/,
    ],
    [
      'a file in a file',
      [
        ['a', 1, 420, 0, digest],
        ['a/b', 1, 420, 0, digest],
      ],
      /without its folder/,
    ],
    ['a wrong size', file('a', -1, 420, 0, digest), /numbers/],
    ['a size as text', file('a', '1', 420, 0, digest), /numbers/],
    ['a huge size', file('a', 1e12, 420, 0, digest), /too large/],
    ['a digest that is a path', file('a', 1, 420, 0, '../../../etc/x'), /no digest/],
    ['no list', 'x', /a list of files that is none/],
    ['a list that is too long', Array.from({ length: 501 }, (_, n) => [`f${n}`, 420]), /a list of files that is none/],
  ])('of %s is refused', async (_name, list, why) => {
    expect(await offered(list)).toMatch(why);
  });

  it('without end is refused', async () => {
    const endless = async function* (): AsyncIterable<Value> {
      for (let part = 0; ; part++) yield Array.from({ length: 500 }, (_, n) => [`f${part * 500 + n}`, 420]);
    };
    expect(await offered(endless)).toMatch(/more than 100000 files/);
  });

  it.each<[string, Value[], RegExp]>([
    ['nothing', [], /is not what was announced/],
    ['other bytes', [{ digest, bytes: 'z' }], /is not what was announced/],
    ['more bytes', [{ digest, bytes: 'zz' }], /more than it said/],
    ['another file', [{ digest: '../../x', bytes: 'z' }], /more than it said/],
    ['a wrong type', [7], /more than it said/],
  ])('with %s for content is refused', async (_name, content, why) => {
    expect(await offered(file('a'), content)).toMatch(why);
  });

  it('is for one member only, while its operator waits', async () => {
    const m2 = joining('m2');
    const asked = async (): Promise<void> => {
      for await (const _ of m2.member.signals.ask('m1', 'files', { session: 'guess', tree: 0 }, { timeoutMs: 20_000 }));
    };
    await expect(asked()).rejects.toThrow(/nothing is offered/);
  });
});
