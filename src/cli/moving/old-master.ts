// The configuration of the master that is moved: copied first, then read from the copy. It may name any path of its own
// machine; nothing on this one is read for it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import type { PlainDict, Value } from '../../base/codec/value.ts';
import type { ConfigCopy } from '../../base/config/include.ts';
import { type LoadedConfig, loadMasterConfig, type MasterOpts } from '../../base/config/index.ts';
import { ConfigReport } from '../../base/config/problems.ts';
import { readConfFile } from '../../base/config/read-file.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { isInside, safeJoin } from '../../base/util/safe-join.ts';
import type { Source, SourceFile } from './sources/source.ts';

const most = { files: 1000, bytes: 16 * 1024 * 1024 };

export interface OldMaster {
  readonly source: Source;
  readonly host: string;
  readonly files: readonly SourceFile[];
  readonly config: LoadedConfig<MasterOpts>;
  /** Halite, or Salt. */
  readonly program: 'Halite' | 'Salt';
  /** The same configuration with other values for some options. */
  withValues(overrides: PlainDict): LoadedConfig<MasterOpts>;
}

export interface ConfigFiles {
  readonly files: readonly SourceFile[];
  readonly copy: ConfigCopy;
}

/** Copies the files of one configuration to a private folder; `files` is empty when there is none. */
export async function copyConfig(source: Source, role: 'master' | 'minion', scratch: string): Promise<ConfigFiles> {
  const { configDir } = source;
  const main = join(configDir, role);
  let files = await source.list([main, join(configDir, `${role}.d`)]);
  const copy = { folder: join(scratch, 'config'), original: configDir };
  await copyFiles(source, files, copy);
  const more = includedFolders(
    join(copy.folder, role),
    files.some(({ path }) => path === main),
    configDir,
  );
  if (more.length > 0) {
    files = await source.list([main, join(configDir, `${role}.d`), ...more]);
    await copyFiles(source, files, copy);
  }
  return { files, copy };
}

/** Reads the configuration of a source; `scratch` is a private folder. */
export async function readOldMaster(source: Source, scratch: string): Promise<OldMaster> {
  const { files, copy } = await copyConfig(source, 'master', scratch);
  if (files.length === 0) {
    const main = join(source.configDir, 'master');
    throw new HaliteError(
      'config.missing',
      `${source.name} has no configuration of a master: neither ${main} nor ${main}.d`,
      {
        hint: 'Name its folder: ssh://host/path/of/the/folder, or config=/path for an archive.',
      },
    );
  }
  const withValues = (overrides: PlainDict): LoadedConfig<MasterOpts> =>
    loadMasterConfig({ configDir: copy.folder, copy, overrides, env: {} });
  const config = withValues({});
  const cachedir = config.opts.cachedir;
  const halite = (await source.list([join(cachedir, 'halite.db')])).length > 0;
  return { source, host: await source.host(), files, config, withValues, program: halite ? 'Halite' : 'Salt' };
}

async function copyFiles(source: Source, files: readonly SourceFile[], copy: ConfigCopy): Promise<void> {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (files.length > most.files || bytes > most.bytes)
    throw new HaliteError(
      'codec.limit',
      `The configuration of ${source.name} has ${files.length} files with ${bytes} bytes: more than ${most.files} or ${most.bytes}`,
    );
  await source.read(files, async ({ path, size }, content) => {
    const place = safeJoin(copy.folder, relative(copy.original, path));
    mkdirSync(dirname(place), { recursive: true, mode: 0o700 });
    const parts: Uint8Array[] = [];
    let got = 0;
    for await (const part of content) {
      got += part.length;
      if (got <= size) parts.push(part);
    }
    writeFileSync(place, Buffer.concat(parts), { mode: 0o600 });
  });
}

/** Folders below the configuration folder that the main file includes, besides the usual one. */
function includedFolders(main: string, there: boolean, configDir: string): string[] {
  if (!there) return [];
  const values = readConfFile(main, new ConfigReport());
  const patterns = (value: Value | undefined): string[] =>
    (Array.isArray(value) ? value : [value ?? null]).filter(
      (item): item is string => typeof item === 'string' && item !== '',
    );
  return [...patterns(values['default_include']), ...patterns(values['include'])]
    .map((pattern) => resolve(configDir, pattern.replace(/[*?[].*$/s, '')))
    .map((path) => (path.endsWith('/') ? path.slice(0, -1) : path))
    .filter((path) => isInside(configDir, path) && path !== configDir);
}
