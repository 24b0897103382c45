// Extensions of users on an SSH target: fetched before a job, with the SDK that they import.
import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { asPlainDict, newDict, type PlainDict } from '../../base/codec/value.ts';
import type { MinionOpts } from '../../base/config/opts.ts';
import type { Logger } from '../../base/log/index.ts';
import { replaceFileNow } from '../../base/util/replace-file.ts';
import { createFileClient } from '../../engine/files/client/client.ts';
import { cleanRelative } from '../../engine/files/paths.ts';
import { syncExtensions } from '../../engine/files/sync.ts';
import type { MinionServices } from '../../extend/sdk/index.ts';
import type { SessionLink } from './link.ts';
import type { SshStart } from './start.ts';

export interface ExtensionParts {
  readonly start: SshStart;
  readonly opts: MinionOpts;
  readonly log: Logger;
  readonly link: SessionLink;
  readonly folder: string;
}

const kinds = ['modules', 'states', 'grains', 'sdb', 'renderers', 'returners', 'output', 'beacons'] as const;

/** What jobs on this target may use: those of the base environment, as a minion has them after `saltutil.sync_all`. */
export async function bringExtensions(parts: ExtensionParts): Promise<void> {
  const { opts, log, link } = parts;
  await bringSdk(parts);
  const client = createFileClient({ opts: opts.raw, minion: servicesOf(link), log });
  await syncExtensions({ client, opts: opts.raw, log }, kinds);
}

/** Beside the program, where its loader looks for it. */
async function bringSdk({ start, link, folder }: ExtensionParts): Promise<void> {
  const place = join(folder, 'halite');
  const mark = join(place, 'sdk-version');
  if (start.sdk === '' || (await readFile(mark, 'utf8').catch(() => '')) === start.sdk) return;
  const load = newDict([['cmd', '_ssh_sdk']]);
  const files: PlainDict = asPlainDict(await link.channel.request(load, { timeoutMs: 0 })) ?? newDict();
  await rm(join(place, 'sdk'), { recursive: true, force: true });
  for (const [name, text] of Object.entries(files)) {
    if (cleanRelative(name) !== name || typeof text !== 'string') continue;
    await mkdir(dirname(join(place, name)), { recursive: true, mode: 0o700 });
    replaceFileNow(join(place, name), Buffer.from(text));
  }
  replaceFileNow(mark, Buffer.from(start.sdk));
}

const notHere = async (): Promise<never> => {
  throw new Error('not available while extensions are fetched');
};

const servicesOf = (link: SessionLink): MinionServices => ({
  hasMaster: true,
  masterRequest: (load, options = {}) => link.channel.request(load, { timeoutMs: 0, ...options }),
  ...{ running: notHere, signalJob: notHere, fire: async () => false, refreshGrains: notHere },
  ...{ refreshPillar: notHere, compilePillar: notHere, reloadExtensions: notHere },
});
