// `master.compare`: what two masters must have in common, and do not.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Value } from '../../base/codec/value.ts';
import { fingerprint } from '../../base/crypto/index.ts';
import { messageOf } from '../../base/errors/index.ts';
import { listFirst } from '../../base/util/list-first.ts';
import { isInside } from '../../base/util/safe-join.ts';
import { visibleLine } from '../../base/util/visible.ts';
import type { Blobs } from './blobs.ts';
import { keyFiles, stateFolders } from './key-files.ts';
import type { OldMaster } from './old-master.ts';
import { rootFolders, wantedPaths } from './plan.ts';
import type { SourceFile } from './sources/source.ts';

/** Options that may differ between masters of the same minions. */
const own = new Set(
  'conf_file id interface ipv6 user root_dir pki_dir cachedir sock_dir pidfile log_file log_level log_level_logfile key_logfile worker_threads extension_modules verify_env file_roots pillar_roots'.split(
    ' ',
  ),
);

interface Side {
  readonly old: OldMaster;
  readonly files: readonly SourceFile[];
}

export interface Comparison {
  readonly text: string;
  readonly same: boolean;
}

export async function compare(here: OldMaster, there: OldMaster, blobs: Blobs): Promise<Comparison> {
  const side = async (old: OldMaster): Promise<Side> => ({
    old,
    files: await old.source.list(wantedPaths({ old, roots: true })),
  });
  const [a, b] = [await side(here), await side(there)];
  const differences = [
    ...(await keyDifference(a, b, blobs)),
    ...stateDifferences(a, b),
    ...optionDifferences(here, there),
    ...rootDifferences(a, b),
  ].map(visibleLine);
  const head = `This master and ${there.source.name}${there.host ? ` (${visibleLine(there.host)})` : ''}:`;
  const same = differences.length === 0;
  const lines = same ? ['key, states of minion keys, options, files and pillar are the same'] : differences;
  return { text: `${[head, ...lines.map((line) => `  ${line}`)].join('\n')}\n`, same };
}

async function keyDifference(a: Side, b: Side, blobs: Blobs): Promise<string[]> {
  const finger = async ({ old, files }: Side): Promise<string> => {
    const found = keyFiles(old, files).files.find(({ name }) => name === 'master.pub');
    if (!found) return 'none';
    await blobs.fetch(old.source, [found.file]);
    try {
      return fingerprint(readFileSync(blobs.path(found.file.sha256), 'utf8'));
    } catch (error) {
      return `not readable (${messageOf(error)})`;
    }
  };
  const [ours, theirs] = [await finger(a), await finger(b)];
  return ours === theirs ? [] : [`key of the master: here ${ours}, there ${theirs}: minions accept only one of them`];
}

function stateDifferences(a: Side, b: Side): string[] {
  const states = ({ old, files }: Side): Map<string, string> => {
    const found = new Map<string, string>();
    for (const { name, file } of keyFiles(old, files).files) {
      const [folder = '', id] = name.split('/');
      if (id === undefined || !(stateFolders as readonly string[]).includes(folder)) continue;
      const state = `${shortState[folder]} ${file.sha256.slice(0, 12)}`;
      found.set(id, found.has(id) ? `${found.get(id)}, ${state}` : state);
    }
    return found;
  };
  const [ours, theirs] = [states(a), states(b)];
  const ids = [...new Set([...ours.keys(), ...theirs.keys()])].sort().filter((id) => ours.get(id) !== theirs.get(id));
  const lines = ids
    .slice(0, 50)
    .map((id) => `minion ${id}: here ${ours.get(id) ?? 'no key'}, there ${theirs.get(id) ?? 'no key'}`);
  return ids.length > lines.length ? [...lines, `and ${ids.length - lines.length} minions more`] : lines;
}

const shortState: Readonly<Record<string, string>> = {
  minions: 'accepted',
  minions_pre: 'pending',
  minions_rejected: 'rejected',
  minions_denied: 'denied',
};

/** Names only: values may be secrets. */
function optionDifferences(here: OldMaster, there: OldMaster): string[] {
  const [a, b] = [here.config, there.config];
  const names = new Set([...Object.keys(a.given), ...Object.keys(b.given)]);
  const value = (config: typeof a, name: string): Value => config.opts.raw[name] ?? null;
  return [...names]
    .filter((name) => !own.has(name) && !isDeepStrictEqual(value(a, name), value(b, name)))
    .sort()
    .map(
      (name) =>
        `option ${name} differs${a.given[name] === undefined ? ': not set here' : b.given[name] === undefined ? ': not set there' : ''}`,
    );
}

function rootDifferences(a: Side, b: Side): string[] {
  const [ours, theirs] = [contents(a), contents(b)];
  return [...new Set([...ours.keys(), ...theirs.keys()])].sort().flatMap((what) => {
    const [mine = new Map<string, string>(), other = new Map<string, string>()] = [ours.get(what), theirs.get(what)];
    const paths = [...new Set([...mine.keys(), ...other.keys()])]
      .filter((path) => mine.get(path) !== other.get(path))
      .sort();
    return paths.length === 0 ? [] : [`${what}: ${paths.length} files differ: ${listFirst(paths, 10)}`];
  });
}

/** By environment: each path as minions name it, and its sum; the first folder that has a path counts. */
function contents({ old, files }: Side): Map<string, Map<string, string>> {
  const found = new Map<string, Map<string, string>>();
  for (const { what, folders } of rootFolders(old)) {
    const paths = new Map<string, string>();
    for (const folder of folders)
      for (const { path, sha256 } of files)
        if (isInside(folder, path) && !paths.has(relative(folder, path))) paths.set(relative(folder, path), sha256);
    found.set(what, paths);
  }
  return found;
}
