// Gives one file its content, owner and mode: the core of `managed`, `serialize`, `recurse` and others.

import {
  commandError,
  dictGet,
  newDict,
  type PlainDict,
  pyStr,
  type StateContext,
  type StateResult,
  type Value,
} from 'halite/sdk';
import { dirName, normalizeMode, osReason, osText, realpathSync } from 'halite/sdk/fs';
import { type Content, differenceOf, holds, put } from './content.ts';
import { currentUmask, exists, isDir, lookAt, lookAtLink } from './facts.ts';
import { folderModeFor, makeParents } from './folders.ts';
import { permsNeeded, setPerms } from './perms.ts';
import type { Selinux } from './selinux.ts';

export interface ManageRequest {
  readonly name: string;
  /** undefined: creates an empty file if there is none. */
  readonly content: Content | undefined;
  /** The content came from a file, not from the state's arguments. */
  readonly fromSource: boolean;
  readonly user: Value;
  readonly group: Value;
  readonly mode: string | null;
  readonly attrs?: Value;
  readonly backup: string;
  readonly makedirs: boolean;
  readonly dirMode?: Value;
  readonly follow: boolean;
  readonly showChanges: boolean;
  readonly selinux?: Selinux | undefined;
}

/** Whether differences must be hidden because templates may contain secrets. */
function hidden(ctx: StateContext): boolean {
  const name = 'obfuscate_templates';
  return Boolean(ctx.opts[name] ?? dictGet(ctx.grains, name) ?? dictGet(ctx.pillar, name));
}

function difference(path: string, request: ManageRequest, ctx: StateContext): string {
  return hidden(ctx) ? '<Obfuscated Template>' : differenceOf(path, request.content as Content, request.showChanges);
}

const permsOf = (request: ManageRequest, mode = request.mode, follow = request.follow) => ({
  user: request.user,
  group: request.group,
  mode,
  attrs: request.attrs ?? null,
  follow,
  selinux: request.selinux,
});

/** What `manageFile` would change, with the texts of Salt's test mode. */
export async function changesNeeded(request: ManageRequest, ctx: StateContext): Promise<PlainDict> {
  const { name, content } = request;
  const there = (request.follow ? lookAt(name) : undefined) ?? lookAtLink(name);
  if (!there) return newDict([['newfile', name]]);
  const changes = newDict();
  if (there.isSymbolicLink() && !request.follow && request.fromSource)
    changes['diff'] = 'Replace symbolic link with regular file';
  else if (content && exists(name) && !holds(name, content)) changes['diff'] = difference(name, request, ctx);
  else if (content && !exists(name)) changes['diff'] = `Failed to read ${name}: No such file or directory`;
  const perms = await permsNeeded(name, permsOf(request), ctx);
  if (perms['attrs'] !== undefined) perms['attrs'] = pyStr(request.attrs ?? '');
  return Object.assign(changes, perms);
}

const backupMode = (request: ManageRequest, ctx: StateContext): string =>
  request.backup || pyStr(ctx.opts['backup_mode'] ?? '');

interface New {
  readonly newMode: number;
  readonly absent: boolean;
}

function write(path: string, content: Content | undefined, request: ManageRequest, made: New, ctx: StateContext): void {
  if (!content) return;
  const { newMode, absent } = made;
  put(path, content, {
    backup: backupMode(request, ctx),
    cachedir: pyStr(ctx.opts['cachedir'] ?? ''),
    newMode,
    absent,
  });
}

const replaced: New = { newMode: 0o600, absent: false };

async function update(request: ManageRequest, link: boolean, ctx: StateContext): Promise<StateResult> {
  const { name, content } = request;
  const target = link && request.follow ? realpathSync(name) : name;
  const changes = newDict();
  try {
    if (link && !request.follow && request.fromSource) {
      write(name, content, request, replaced, ctx);
      changes['diff'] = 'Replace symbolic link with regular file';
    } else if (content && !holds(target, content)) {
      changes['diff'] = difference(target, request, ctx);
      write(target, content, request, replaced, ctx);
    }
  } catch (error) {
    return ctx.fail(`Failed to commit change: ${osText(error, target)}`, { name, changes });
  }
  const perms = await setPerms(name, permsOf(request), ctx);
  Object.assign(changes, perms.changes);
  const changed = Object.keys(changes).length > 0;
  const comment = changed
    ? `File ${name} updated`
    : perms.ok
      ? `File ${name} is in the correct state`
      : perms.problems.join('; ');
  return ctx.result({ name, changes, result: perms.ok, comment });
}

async function create(request: ManageRequest, absent: boolean, ctx: StateContext): Promise<StateResult> {
  const { name, user, group } = request;
  if (!isDir(dirName(name))) {
    if (!request.makedirs) return ctx.fail('Parent directory not present', { name });
    const mode = request.dirMode ?? folderModeFor(request.mode);
    await makeParents(name, { user, group, mode }, ctx);
  }
  // As in Salt: without a given mode, content from a file starts with 0600, other files with the umask.
  const usual = request.mode === null ? 0o666 & ~currentUmask() : 0o600;
  const first = request.fromSource ? 0o600 : usual;
  const mode = request.mode ?? normalizeMode(usual.toString(8));
  const content = request.content ?? { bytes: Buffer.alloc(0) };
  try {
    write(name, content, request, { newMode: first, absent }, ctx);
  } catch (error) {
    throw commandError(osReason(error));
  }
  const changes = request.content ? newDict([['diff', 'New file']]) : newDict([['new', `file ${name} created`]]);
  const perms = await setPerms(name, permsOf(request, mode, false), ctx);
  Object.assign(changes, perms.changes);
  const comment = [...(request.content ? [] : ['Empty file']), ...perms.problems].join('; ');
  return ctx.result({ name, changes, result: perms.ok, comment: comment || `File ${name} updated` });
}

/** Makes the changes; never called under test. */
export async function manageFile(request: ManageRequest, ctx: StateContext): Promise<StateResult> {
  const found = lookAtLink(request.name);
  const link = found?.isSymbolicLink() ?? false;
  return link || found?.isFile() ? update(request, link, ctx) : create(request, found === undefined, ctx);
}
