// The key files of a master while its key changes: each step can be done again, and none loses the only copy of a key.
import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import {
  cleanKey,
  fingerprint,
  generateKeyPairFiles,
  loadPrivateKey,
  loadPublicKey,
  publicPem,
} from '../../base/crypto/index.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { replaceFileNow } from '../../base/util/replace-file.ts';
import { newBackup } from '../shared/backup.ts';
import type { MasterKeyPair } from '../sign-in/master-keys.ts';
import type { RolloverRecord } from './record.ts';

export interface KeyFileOptions {
  readonly pki_dir: string;
  readonly cachedir: string;
  readonly keysize: number;
  readonly key_pass?: string | null;
}

const nextName = 'master_next';
const oldName = 'master_old';

export class KeyFiles {
  readonly #opts: KeyFileOptions;

  constructor(opts: KeyFileOptions) {
    this.#opts = opts;
  }

  /** Undefined when there is none. */
  pair(name: typeof nextName | typeof oldName): MasterKeyPair | undefined {
    const file = join(this.#opts.pki_dir, `${name}.pem`);
    return existsSync(file) ? this.#load(file) : undefined;
  }

  #load(file: string): MasterKeyPair {
    const privateKey = loadPrivateKey(file, this.#opts.key_pass ?? undefined);
    const pem = cleanKey(publicPem(privateKey));
    return { privateKey, publicKey: loadPublicKey(pem), pem, file };
  }

  /** Makes the next key; one that a killed run has made is used. */
  async makeNext(): Promise<MasterKeyPair> {
    const { pki_dir, keysize, key_pass } = this.#opts;
    return this.#load(await generateKeyPairFiles(pki_dir, nextName, keysize, { passphrase: key_pass ?? undefined }));
  }

  /** Copies of everything that the change touches. */
  backup(mainFile: string): string {
    const folder = newBackup(this.#opts.cachedir);
    const main = basename(mainFile, '.pem');
    const names = [main, nextName, oldName].flatMap((name) => [`${name}.pem`, `${name}.pub`]);
    for (const name of [...names, 'master_rollover.json', 'master_pubkey_signature']) {
      const file = join(this.#opts.pki_dir, name);
      if (existsSync(file)) copyFileSync(file, join(folder, name));
    }
    return folder;
  }

  /**
   * The next key becomes that of the master, the present one the old one; goes on from wherever a killed run stopped.
   * `name`: of the main pair.
   */
  switchOver(
    { from, to }: RolloverRecord,
    mainFile: string,
  ): { current: MasterKeyPair; former: MasterKeyPair | undefined } {
    const folder = dirname(mainFile);
    const path = (name: string, kind: string): string => join(folder, `${name}.${kind}`);
    const main = basename(mainFile, '.pem');
    const printOf = (file: string): string => fingerprint(this.#load(file).pem);
    if (printOf(mainFile) === from) {
      const next = this.pair(nextName);
      if (!next || fingerprint(next.pem) !== to)
        throw new HaliteError('crypto.key', `${path(nextName, 'pem')} is not the key ${to} that was announced`, {
          hint: 'Restore it from the newest folder in cachedir/backup.',
        });
      replaceFileNow(path(oldName, 'pem'), readFileSync(mainFile), 0o400);
      replaceFileNow(mainFile, readFileSync(next.file), 0o400);
    }
    if (printOf(mainFile) !== to)
      throw new HaliteError(
        'crypto.key',
        `${mainFile} is neither the key before nor after the change of the master key`,
        {
          hint: 'Restore the key files from the newest folder in cachedir/backup.',
        },
      );
    const current = this.#load(mainFile);
    replaceFileNow(path(main, 'pub'), `${current.pem}\n`, 0o644);
    const former = this.pair(oldName);
    if (former) replaceFileNow(path(oldName, 'pub'), `${former.pem}\n`, 0o644);
    this.dropNext();
    return { current, former };
  }

  #oldIsNext(): void {
    const old = this.pair(oldName);
    if (!old) throw new HaliteError('crypto.key', 'The old key of the master is not there any more');
    const { pki_dir } = this.#opts;
    replaceFileNow(join(pki_dir, `${nextName}.pem`), readFileSync(old.file), 0o400);
    replaceFileNow(join(pki_dir, `${nextName}.pub`), `${old.pem}\n`, 0o644);
  }

  /** The key with this fingerprint is the next one: it is already, it is the old one, or it comes as text. */
  placeNext(to: string, text: string | undefined): void {
    if (this.#is(nextName, to)) return;
    if (this.#is(oldName, to)) this.#oldIsNext();
    else if (text === undefined || !this.#place(nextName, to, text)) throw missing(to);
  }

  /** The key that a master had before this one joined it. */
  placeOld(from: string, text: string): void {
    if (!this.#is(oldName, from)) this.#place(oldName, from, text);
  }

  #is(name: typeof nextName | typeof oldName, print: string): boolean {
    const pair = this.pair(name);
    return pair !== undefined && fingerprint(pair.pem) === print;
  }

  /** False when the text is another key: it is not kept. */
  #place(name: typeof nextName | typeof oldName, print: string, text: string): boolean {
    const file = join(this.#opts.pki_dir, `${name}.pem`);
    replaceFileNow(file, text, 0o400);
    const { pem } = this.#load(file);
    if (fingerprint(pem) === print) replaceFileNow(file.replace(/pem$/, 'pub'), `${pem}\n`, 0o644);
    else this.#drop(name);
    return fingerprint(pem) === print;
  }

  dropNext(): void {
    this.#drop(nextName);
  }

  dropOld(): void {
    this.#drop(oldName);
  }

  #drop(name: typeof nextName | typeof oldName): void {
    for (const kind of ['pem', 'pub']) rmSync(join(this.#opts.pki_dir, `${name}.${kind}`), { force: true });
  }
}

const missing = (to: string): HaliteError =>
  new HaliteError('crypto.key', `The next key ${to} of this master is not there`, {
    hint: 'Withdraw it: salt-run master.rotate_keys abort=True',
  });
