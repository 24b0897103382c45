// Archives made to write outside of their destination: refused as a whole, with an error that names the member.
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newDict, type Value } from 'halite/sdk';
import { testContext } from 'halite/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeZip } from '../../shared/archive/zip-file.ts';
import cmd from '../cmd/index.ts';
import archive from './index.ts';

type Type = '0' | '1' | '2' | '3' | '5' | '6';
interface Entry {
  readonly name: string;
  readonly type?: Type;
  readonly link?: string;
  readonly text?: string;
  readonly mode?: number;
}
const file = (name: string, text = 'x', mode = 0o644): Entry => ({ name, text, mode });
const link = (name: string, to: string): Entry => ({ name, type: '2', link: to });
const hard = (name: string, to: string): Entry => ({ name, type: '1', link: to });
const folder = (name: string): Entry => ({ name, type: '5', mode: 0o755 });

/** Builds a tar archive byte by byte, because no program writes such archives. */
function writeTar(path: string, entries: readonly Entry[]): void {
  const blocks: Buffer[] = [];
  for (const { name, type = '0', link: to = '', text = '', mode = 0o644 } of entries) {
    const head = Buffer.alloc(512);
    head.write(name, 0, 100);
    head.write(`${mode.toString(8).padStart(7, '0')}\0${'0000000\0'.repeat(2)}`, 100);
    head.write(`${Buffer.byteLength(text).toString(8).padStart(11, '0')}\0${'00000000000\0'}        `, 124);
    head.write(type, 156);
    head.write(to, 157, 100);
    head.write('ustar\x0000', 257);
    const sum = head.reduce((total, byte) => total + byte, 0);
    head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    blocks.push(head, Buffer.from(text), Buffer.alloc((512 - (Buffer.byteLength(text) % 512)) % 512));
  }
  writeFileSync(path, Buffer.concat([...blocks, Buffer.alloc(1024)]));
}

const bits: Record<Type, number> = {
  '0': 0o100000,
  '1': 0,
  '2': 0o120000,
  '3': 0o020000,
  '5': 0o040000,
  '6': 0o010000,
};

function makeZip(path: string, entries: readonly Entry[]): void {
  writeZip(
    path,
    entries.map(({ name, type = '0', link: to, text = '', mode = 0o644 }) => ({
      name: type === '5' ? `${name}/` : name,
      mode: bits[type] | mode,
      content: Buffer.from(to ?? text),
    })),
  );
}

let root: string;
const at = (...names: string[]): string => join(root, ...names);
const ctx = testContext({ modules: [archive, cmd] });
const call = (fun: string, args: Value[]) => ctx.callWith(`archive.${fun}`, args, newDict());

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'halite-hostile-archive-'));
  mkdirSync(at('outside'));
  writeFileSync(at('outside/kept'), 'kept');
  mkdirSync(at('dest'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** [entries, the member that the error names]; none of them may create a file. */
const attacks: Record<string, readonly [Entry[], RegExp]> = {
  'a name with ..': [[file('a'), file('../outside/kept')], /'\.\.\/outside\/kept' has '\.\.'/],
  'a name with .. in the middle': [[file('a/../../outside/kept')], /has '\.\.'/],
  'an absolute name': [[file('a'), file('/tmp/halite-never')], /'\/tmp\/halite-never' has an absolute name/],
  'a link to a folder outside and a file behind it': [[link('d', '../outside'), file('d/kept')], /'d/],
  'a link that leads to an absolute path': [[link('d', '/etc')], /'d' leads outside, to '\/etc'/],
  'a link that leads up': [[folder('a'), link('a/up', '../../outside')], /'a\/up' leads outside/],
  'links that lead up together': [[folder('d'), link('d/l', '..'), link('m', 'd/l/..')], /'m' leads outside/],
  'links in a circle': [[link('a', 'b'), link('b', 'a')], /leads outside/],
  'a file behind a link that stays inside': [
    [folder('in'), link('d', 'in'), file('d/f')],
    /'d\/f' lies behind the link 'd'/,
  ],
  'a name that is a link first and a folder later': [[link('d', 'x'), folder('d'), file('d/kept')], /'d/],
  'two links of one name': [[link('d', 'x'), link('d', 'y')], /twice/],
  'a name that hides its arrow': [[link('a -> b', '/etc')], /'a -> b' leads outside/],
  'a link into the terminal': [[link('a', '/\x1b[2J')], /to '\/\\u001b\[2J'/],
};
const onlyTar: typeof attacks = {
  'a hard link to a file outside': [
    [hard('h', '../outside/kept')],
    /'h' is a hard link to '\.\.\/outside\/kept', outside/,
  ],
  'a hard link to an absolute path': [[hard('h', '/etc/passwd')], /'h' is a hard link/],
  'a hard link through a link': [[folder('in'), link('d', 'in'), hard('h', 'd/f')], /'h' is a hard link/],
};
const special: typeof attacks = {
  'a device': [[file('a'), { name: 'zero', type: '3' }], /'zero' is no file/],
  'a pipe': [[{ name: 'pipe', type: '6' }], /'pipe' is no file/],
};

function untouched(): void {
  expect(readdirSync(at('dest'))).toEqual([]);
  expect(readdirSync(at('outside'))).toEqual(['kept']);
  expect(readFileSync(at('outside/kept'), 'utf8')).toBe('kept');
  expect(existsSync('/tmp/halite-never')).toBe(false);
}

describe('hostile archives', () => {
  it.each(Object.entries({ ...attacks, ...special }))('as ZIP, %s', async (_what, [entries, named]) => {
    makeZip(at('x.zip'), entries);
    await expect(call('unzip', [at('x.zip'), at('dest')])).rejects.toThrow(named);
    untouched();
    await expect(call('cmd_unzip', [at('x.zip'), at('dest')])).rejects.toThrow(named);
    untouched();
  });

  it.each(Object.entries({ ...attacks, ...onlyTar, ...special }))('as tar, %s', async (_what, [entries, named]) => {
    writeTar(at('x.tar'), entries);
    await expect(call('tar', ['xf', at('x.tar'), null, at('dest')])).rejects.toThrow(named);
    untouched();
  });

  it('do not follow links in the destination', async () => {
    symlinkSync(at('outside'), at('dest/d'));
    makeZip(at('x.zip'), [file('d/kept', 'changed')]);
    writeTar(at('x.tar'), [folder('d'), file('d/kept', 'changed')]);
    const calls: [string, Value[]][] = [
      ['unzip', [at('x.zip'), at('dest')]],
      ['cmd_unzip', [at('x.zip'), at('dest')]],
      ['tar', ['xf', at('x.tar'), null, at('dest')]],
    ];
    for (const [fun, args] of calls)
      await expect(call(fun, args)).rejects.toThrow(/lies behind the link .*dest\/d, which leads out/);
    expect(readFileSync(at('outside/kept'), 'utf8')).toBe('kept');
  });

  it('replace a link at the place of a file instead of writing through it', async () => {
    symlinkSync(at('outside/kept'), at('dest/f'));
    makeZip(at('x.zip'), [file('f', 'new')]);
    await call('unzip', [at('x.zip'), at('dest')]);
    expect(readFileSync(at('outside/kept'), 'utf8')).toBe('kept');
    expect(readFileSync(at('dest/f'), 'utf8')).toBe('new');
  });

  it('get no set-user-id bits', async () => {
    makeZip(at('x.zip'), [file('f', 'x', 0o6755)]);
    await call('unzip', [at('x.zip'), at('dest')]);
    expect(statSync(at('dest/f')).mode & 0o7777).toBe(0o755);
  });

  it('that claim more than there is, or share their bytes, are refused', async () => {
    makeZip(at('x.zip'), [file('f', 'x'.repeat(100_000))]);
    const bytes = readFileSync(at('x.zip'));
    const central = bytes.indexOf(Buffer.from('PK\x01\x02', 'latin1'));
    const large = Buffer.from(bytes);
    large.writeUInt32LE(0xfffffff0, central + 20);
    writeFileSync(at('large.zip'), large);
    await expect(call('unzip', [at('large.zip'), at('dest')])).rejects.toThrow(/Overlapped/);
    writeFileSync(at('sparse'), '');
    truncateSync(at('sparse'), 2 ** 42);
    execFileSync('tar', ['-cSf', at('x.tar'), '-C', root, 'sparse']);
    await expect(call('tar', ['xf', at('x.tar'), null, at('dest')])).rejects.toThrow(/it needs 4398046511104 bytes/);
    untouched();
  });

  it('are distinguished from valid ones', async () => {
    const honest = [
      folder('top'),
      file('top/f', 'text'),
      link('top/l', 'f'),
      folder('top/b'),
      link('top/b/up', '../f'),
    ];
    makeZip(at('x.zip'), honest);
    writeTar(at('x.tar'), [...honest, hard('top/h', 'top/f')]);
    await call('unzip', [at('x.zip'), at('dest/zip')]);
    mkdirSync(at('dest/tar'));
    await call('tar', ['xf', at('x.tar'), null, at('dest/tar')]);
    for (const kind of ['zip', 'tar']) {
      expect(readFileSync(at('dest', kind, 'top/b/up'), 'utf8')).toBe('text');
      expect(lstatSync(at('dest', kind, 'top/l')).isSymbolicLink()).toBe(true);
    }
    expect(statSync(at('dest/tar/top/h')).ino).toBe(statSync(at('dest/tar/top/f')).ino);
    // The operator asked for it: names and links are used unchanged.
    writeTar(at('out.tar'), [link('top', '/nowhere')]);
    await call('tar', ['xPf', at('out.tar'), null, at('dest')]);
    expect(lstatSync(at('dest/top')).isSymbolicLink()).toBe(true);
  });
});
