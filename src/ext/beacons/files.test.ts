// Beacons that watch files, with real files: inotify, watchdog, log, cert_info.
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PlainDict } from 'halite/sdk';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import inotify from './inotify.ts';
import log from './log_beacon.ts';
import { opened, plainJson, problem, until } from './shared/testing.ts';
import watchdog from './watchdog.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'halite-beacon-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const at = (...parts: string[]): string => join(root, ...parts);
const shown = (told: readonly PlainDict[]): string[] =>
  told.map(({ path, change }) => `${String(change)} ${String(path).slice(root.length + 1)}`);
const has =
  (...wanted: string[]) =>
  (told: readonly PlainDict[]): boolean =>
    wanted.every((one) => shown(told).includes(one));

describe('inotify', () => {
  it('reports what is created, modified and deleted in a folder, with its tag', async () => {
    const session = await opened(inotify, { files: { [root]: { mask: ['create', 'delete', 'modify'] } } });
    writeFileSync(at('a'), 'one');
    const [first] = await until(session, has('IN_CREATE a', 'IN_MODIFY a'));
    expect(first).toEqual({ tag: root, path: at('a'), change: 'IN_CREATE' });
    appendFileSync(at('a'), 'two');
    expect(shown(await until(session, has('IN_MODIFY a')))).toEqual(['IN_MODIFY a']);
    mkdirSync(at('sub'));
    await until(session, has('IN_CREATE|IN_ISDIR sub'));
    rmSync(at('a'));
    expect(shown(await until(session, has('IN_DELETE a')))).toEqual(['IN_DELETE a']);
    session.close?.();
  });

  it('reports moves, attributes and files that were closed after writing', async () => {
    writeFileSync(at('old'), 'x');
    const mask = ['moved_from', 'moved_to', 'attrib', 'close_write', 'create'];
    const session = await opened(inotify, { files: { [root]: { mask } } });
    renameSync(at('old'), at('new'));
    expect(shown(await until(session, has('IN_MOVED_TO new')))).toEqual(['IN_MOVED_FROM old', 'IN_MOVED_TO new']);
    chmodSync(at('new'), 0o600);
    expect(shown(await until(session, has('IN_ATTRIB new')))).toEqual(['IN_ATTRIB new']);
    appendFileSync(at('new'), 'y');
    expect(shown(await until(session, has('IN_CLOSE_WRITE new')))).toEqual(['IN_CLOSE_WRITE new']);
    rmSync(at('new'));
    writeFileSync(at('other'), 'z');
    expect(shown(await until(session, has('IN_CLOSE_WRITE other')))).toContain('IN_CREATE other');
    session.close?.();
  });

  it('watches sub-folders with recurse, and new ones with auto_add', async () => {
    mkdirSync(at('deep/er'), { recursive: true });
    const session = await opened(inotify, {
      files: {
        [root]: {
          mask: ['create'],
          recurse: true,
          auto_add: true,
          exclude: [at('skip'), { [`${root}/.*~$`]: { regex: true } }],
        },
      },
    });
    writeFileSync(at('deep/er/a'), '');
    const told = await until(session, has('IN_CREATE deep/er/a'));
    expect(told[0]).toMatchObject({ tag: at('deep/er') });
    mkdirSync(at('fresh/one'), { recursive: true });
    writeFileSync(at('fresh/one/b'), '');
    await until(session, has('IN_CREATE fresh/one/b'));
    mkdirSync(at('skip'));
    writeFileSync(at('skip/c'), '');
    writeFileSync(at('d~'), '');
    writeFileSync(at('e'), '');
    expect(shown(await until(session, has('IN_CREATE e')))).toEqual(['IN_CREATE e']);
    session.close?.();
  });

  it('follows one file that is replaced, removed and created again', async () => {
    const session = await opened(inotify, { files: { [at('f')]: { mask: ['modify', 'delete_self'] } } });
    expect(await session.read()).toEqual([]);
    writeFileSync(at('f'), 'one');
    await session.read();
    appendFileSync(at('f'), 'two');
    await until(session, has('IN_MODIFY f'));
    writeFileSync(at('f.new'), 'three');
    renameSync(at('f.new'), at('f'));
    await until(session, has('IN_DELETE_SELF f', 'IN_IGNORED f'));
    appendFileSync(at('f'), 'four');
    expect((await until(session, has('IN_MODIFY f')))[0]).toMatchObject({ tag: at('f') });
    rmSync(at('f'));
    await until(session, has('IN_DELETE_SELF f', 'IN_IGNORED f'));
    session.close?.();
  });

  it('refuses invalid settings and names them', async () => {
    const of = (settings: unknown) => problem(inotify, { files: { '/x': settings } });
    expect(await problem(inotify, {})).toBe('Configuration for inotify beacon must include files.');
    expect(await problem(inotify, { files: ['/x'] })).toContain('files must be a dict');
    expect(await of({})).toContain('must contain mask, recurse or auto_add items');
    expect(await of({ mask: ['creat'] })).toBe('Configuration for inotify beacon invalid mask option creat.');
    expect(await of({ recurse: 'yes' })).toBe('Configuration for inotify beacon recurse must be boolean.');
    expect(await of({ mask: ['open'] })).toContain('cannot be observed');
    expect(await of({ mask: ['open', 'create'] })).toBeUndefined();
  });
});

describe('watchdog', () => {
  it('reports events with its own names', async () => {
    const session = await opened(watchdog, { directories: { [root]: {} } });
    writeFileSync(at('a'), '');
    const told = await until(session, has('created a'));
    expect(told[0]).toEqual({ tag: 'watchdog', path: at('a'), change: 'created' });
    renameSync(at('a'), at('b'));
    expect(shown(await until(session, has('moved a')))).not.toContain('created b');
    rmSync(at('b'));
    await until(session, has('deleted b', 'modified '));
    session.close?.();
    expect(await problem(watchdog, { directories: { '/x': { mask: ['open'] } } })).toBe(
      'Configuration for watchdog beacon contains invalid mask',
    );
  });
});

describe('log', () => {
  it('reports new lines that match, also after the file was rotated', async () => {
    const file = at('messages');
    writeFileSync(file, 'good-bye before\n');
    const tags = { 'bye/all': { regex: '.*good-bye.*' }, start: { regex: 'hello' } };
    const session = await opened(log, { file, tags });
    expect(await session.read()).toEqual([]);
    appendFileSync(file, 'say good-bye\nnothing\nnot hello\nhel');
    const told = await session.read();
    expect(plainJson(told)).toEqual([{ tag: 'bye/all', match: 'yes', raw: 'say good-bye', error: '' }]);
    appendFileSync(file, 'lo\n');
    expect((await session.read()).map(({ raw }) => raw)).toEqual(['hello']);
    renameSync(file, at('messages.1'));
    await expect(session.read()).rejects.toThrow('ENOENT');
    writeFileSync(file, 'hello again\n');
    expect((await session.read()).map(({ raw }) => raw)).toEqual(['hello again']);
    writeFileSync(file, 'hello\n');
    expect((await session.read()).map(({ raw }) => raw)).toEqual(['hello']);
    expect(await problem(log, { tags })).toBe('Configuration for log beacon must contain file option.');
    expect(await problem(log, { file, tags: { bad: { regex: '(' } } })).toContain('regex of tag bad');
  });
});
