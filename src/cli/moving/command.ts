// `salt-run master.clone` and its relatives: they run in this process, because they read and replace the files of a
// master, which does not run then. `halite clone …` is the same.
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newDict, type PlainDict } from '../../base/codec/value.ts';
import { loadMasterConfig } from '../../base/config/index.ts';
import { cleanKey, fingerprint, loadPrivateKey } from '../../base/crypto/index.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { exitCodes } from '../../base/util/exit-codes.ts';
import { type Given, givenArguments, type LocalCall } from '../local-call.ts';
import { Blobs } from './blobs.ts';
import { type PassphraseFrom, readPassphrase } from './bundle/passphrase.ts';
import { clone } from './clone.ts';
import { compare } from './compare.ts';
import { refuseRunningMaster } from './here.ts';
import { readOldMaster } from './old-master.ts';
import { readFolders, readMappings } from './paths.ts';
import { backupFolder, backups, readBackup, restore } from './place.ts';
import { placedText } from './report.ts';
import { openSource, type Reading } from './sources/open.ts';
import type { Source } from './sources/source.ts';
import { thisMaster } from './this-master.ts';

interface Work {
  readonly call: LocalCall;
  readonly given: Given;
  readonly dryRun: boolean;
  /** A private folder, removed at the end. */
  readonly scratch: string;
}

const procedures: Readonly<Record<string, (work: Work) => Promise<number>>> = {
  clone: cloneFrom,
  compare: compareWith,
  export: exportThis,
  import: importFrom,
  backup: backupThis,
  restore: (work) => (isFileName(work.given.text('backup')) ? restoreFile(work) : restoreBackup(work)),
};

/** Functions of the runner `master` that run in the command. */
export const isLocal = (fun: string): boolean =>
  fun.startsWith('master.') && Object.hasOwn(procedures, fun.slice('master.'.length));

export async function runLocal(fun: string, call: LocalCall): Promise<number> {
  const work = procedures[fun.slice('master.'.length)];
  if (!work) throw new HaliteError('call.unknown', `There is no function ${fun}`);
  const given = await givenArguments(fun, call);
  const scratch = mkdtempSync(join(tmpdir(), 'halite-moving-'));
  try {
    return await work({ call, given, scratch, dryRun: call.dryRun || given.flag('dry_run') });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function readingOf(given: Given): Reading {
  const { config, root, ssh, halite } = {
    config: given.text('config'),
    root: given.text('root'),
    ssh: given.text('ssh'),
    halite: given.text('halite'),
  };
  return { config, root, ssh, halite, sudo: given.flag('sudo') };
}

/** Options that the operator wants to be different here. */
function wantedOptions(given: Given): PlainDict {
  const wanted = newDict();
  if (given.text('interface') !== '') wanted['interface'] = given.text('interface');
  for (const name of ['publish_port', 'ret_port']) {
    const port = given.number(name);
    if (port !== undefined) wanted[name] = port;
  }
  return wanted;
}

/** Places what a source describes; also the second half of an import. */
async function cloneSource(source: Source, { call, given, dryRun, scratch }: Work, spool = false): Promise<number> {
  const { configDir, io } = call;
  const mappings = readMappings(given.text('place'));
  if (source.configDir !== configDir) mappings.push({ from: source.configDir, to: configDir });
  const text = await clone({
    ...{ source, configDir, mappings, dryRun, scratch },
    allow: readFolders('allow', given.text('allow')),
    wanted: wantedOptions(given),
    roots: given.flag('roots'),
    history: given.flag('history'),
    spool,
    say: (line) => io.err(line.endsWith('\n') ? line : `${line}\n`),
  });
  io.out(text);
  return exitCodes.ok;
}

async function cloneFrom(work: Work): Promise<number> {
  const source = await openSource(work.given.text('source'), readingOf(work.given), work.scratch);
  try {
    return await cloneSource(source, work);
  } finally {
    await source.close();
  }
}

async function compareWith({ call, given, scratch }: Work): Promise<number> {
  const source = await openSource(given.text('source'), readingOf(given), scratch);
  try {
    const there = await readOldMaster(source, scratch);
    const { text, same } = await compare(await thisMaster(call.configDir), there, new Blobs(join(scratch, 'blobs')));
    call.io.out(text);
    return same ? exitCodes.ok : exitCodes.generic;
  } finally {
    await source.close();
  }
}

async function restoreBackup({ call, given, dryRun }: Work): Promise<number> {
  const { opts } = loadMasterConfig({ configDir: call.configDir });
  const name = given.text('backup');
  const known = backups(opts.cachedir);
  const describe = (each: string): string => {
    const { what, state, files } = readBackup(join(backupFolder(opts.cachedir), each));
    return `${each}  ${what}, ${files.length} files${state === 'placing' ? ' (interrupted: run the same command again)' : ''}\n`;
  };
  if (name === '') {
    call.io.out(
      known.length === 0 ? `There is no backup in ${backupFolder(opts.cachedir)}\n` : known.map(describe).join(''),
    );
    return exitCodes.ok;
  }
  if (dryRun && known.includes(name)) {
    for (const { path, before } of readBackup(join(backupFolder(opts.cachedir), name)).files)
      call.io.out(`${before === null ? 'remove  ' : 'put back'} ${path}\n`);
    call.io.out('Nothing was changed: this is a dry run.\n');
    return exitCodes.ok;
  }
  await refuseRunningMaster(opts, call.configDir, 'run master.restore');
  call.io.out(placedText(await restore(opts.cachedir, name)));
  return exitCodes.ok;
}

async function exportThis({ call, given, dryRun, scratch }: Work): Promise<number> {
  const { exportMaster } = await import('./bundle/export.ts');
  const text = await exportMaster({
    master: await thisMaster(call.configDir),
    ...{ file: given.text('file'), roots: given.flag('roots'), history: given.flag('history'), dryRun, scratch },
    passphrase: () => readPassphrase(passphraseFrom(given), true, call.io),
  });
  call.io.out(text);
  return exitCodes.ok;
}

async function backupThis({ call, given, dryRun }: Work): Promise<number> {
  const { backupMaster, readRecipient } = await import('./bundle/backup.ts');
  const master = await thisMaster(call.configDir);
  const from = passphraseFrom(given);
  const recipient = given.text('recipient');
  const text = await backupMaster({
    ...{ master, dryRun, roots: given.flag('roots'), history: given.flag('history') },
    folder: given.text('folder') || join(master.config.opts.cachedir, 'backup', 'master'),
    keep: given.number('keep') ?? 0,
    async lock() {
      if (recipient !== '') return readRecipient(recipient);
      if (from.file === '' && from.fd === undefined) return { kind: 'none' };
      return { kind: 'scrypt', passphrase: await readPassphrase(from, true, call.io) };
    },
  });
  call.io.out(text);
  return exitCodes.ok;
}

/** The name of a backup of `master.backup`, not the time of one that a move made. */
const isFileName = (name: string): boolean =>
  name.endsWith('.halite') || statSync(name, { throwIfNoEntry: false })?.isFile() === true;

async function importFrom(work: Work): Promise<number> {
  return takeFile(work, 'file', { finger: work.given.text('finger'), spool: false });
}

/** Puts this master back to what a backup of it contains; one of another master needs its fingerprint. */
async function restoreFile(work: Work): Promise<number> {
  const { opts } = loadMasterConfig({ configDir: work.call.configDir });
  const own = join(opts.pki_dir, 'master.pub');
  const said = work.given.text('finger');
  if (said === '' && !existsSync(own))
    throw new HaliteError('crypto.verify', 'This machine has no key of a master to compare the backup with', {
      hint: 'Say which key it must have, as master.backup printed it: finger=…',
    });
  const finger = said === '' ? fingerprint(cleanKey(readFileSync(own, 'utf8'))) : said;
  return takeFile(work, 'backup', { finger, spool: true });
}

async function takeFile(work: Work, name: string, how: { finger: string; spool: boolean }): Promise<number> {
  const { call, given, scratch } = work;
  const { openExport } = await import('./bundle/import.ts');
  const source = await openExport({
    ...{ file: given.text(name), finger: how.finger, scratch },
    async opener({ kind }) {
      if (kind === 'none') return {};
      if (kind === 'rsa')
        return given.text('identity') === '' ? {} : { identity: loadPrivateKey(given.text('identity')) };
      return { passphrase: await readPassphrase(passphraseFrom(given), false, call.io) };
    },
    say: (line) => call.io.err(`${line}\n`),
  });
  try {
    return await cloneSource(source, work, how.spool);
  } finally {
    await source.close();
  }
}

const passphraseFrom = (given: Given): PassphraseFrom => ({
  file: given.text('passphrase_file'),
  fd: given.number('passphrase_fd'),
});
