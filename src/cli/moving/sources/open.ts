// Which kind of source the operator named.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { HaliteError } from '../../../base/errors/index.ts';
import { archiveSource } from './archive.ts';
import { FolderSource } from './folder.ts';
import type { Source } from './source.ts';
import { readSshAddress, SshSource } from './ssh.ts';

export interface Reading {
  /** The configuration folder inside an archive. */
  readonly config: string;
  readonly root: string;
  readonly ssh: string;
  readonly sudo: boolean;
  readonly halite: string;
}

export async function openSource(name: string, reading: Reading, scratch: string): Promise<Source> {
  if (name.startsWith('ssh://')) return new SshSource(readSshAddress(name), reading);
  const stat = statSync(name, { throwIfNoEntry: false });
  if (stat?.isDirectory()) return folder(name, reading.root);
  if (stat?.isFile()) return archiveSource({ file: name, configDir: reading.config, scratch });
  // With a root, the folder is named as on the other machine.
  if (reading.root !== '/' && name.startsWith('/')) return folder(name, reading.root);
  if (/^[A-Za-z0-9][A-Za-z0-9.-]*(:\d+)?$/.test(name)) {
    // `other:4506` as in the configuration of minions: that is not the port of ssh.
    return new SshSource(readSshAddress(`ssh://${name.replace(/:\d+$/, '')}`), reading);
  }
  throw new HaliteError('config.missing', `${name} is neither a folder nor an archive`, {
    hint: 'A master on another host: ssh://host',
  });
}

function folder(name: string, root: string): FolderSource {
  const path = resolve(name);
  const inRoot = root !== '/' && path.startsWith(`${resolve(root)}/`) ? path.slice(resolve(root).length) : path;
  return new FolderSource({ name: path, configDir: inRoot, root: resolve(root) });
}
