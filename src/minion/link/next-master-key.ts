// The next key of the master, as the trusted one named it: stored before it counts, and verified each time it is read.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../base/crypto/key-files.ts';
import { readNextKey, type SignedNextKey } from '../../protocol/wire/messages/next-key.ts';

/** Clocks of masters and minions may differ by so much. */
const skewMs = 600_000;
const longestFile = 64 * 1024;

export class NextMasterKey {
  readonly path: string;
  /** The number of the statement that was acted on last. */
  readonly #numberPath: string;
  #stored: SignedNextKey | undefined;
  /** From the last answer of a master, until the key that it proves is stored. */
  #given: SignedNextKey | undefined;
  #taken = 0;

  /** `name`: that of the file of the trusted key, without its ending. */
  constructor(pkiDir: string, name = 'minion_master') {
    this.path = join(pkiDir, `${name}_next.pub`);
    this.#numberPath = join(pkiDir, `${name}_next.number`);
  }

  /** What was stored for another key than the trusted one is nothing. */
  async load(trusted: string | undefined): Promise<void> {
    const text = await textOf(this.path);
    this.#taken = Number(/^(\d{1,16})\n$/.exec(await textOf(this.#numberPath))?.[1] ?? 0);
    const next = text === '' || trusted === undefined ? undefined : readNextKey(text, trusted);
    // Ended between the two files of a change: the key is trusted, and the number was not written.
    if (trusted !== undefined && !next && text.includes(`\n${trusted}\nsignature: `))
      this.#taken = Math.max(this.#taken, Number(/\nnumber: (\d{1,16})\n/.exec(text)?.[1] ?? 0));
    this.#stored = next && next.number > this.#taken ? next : undefined;
  }

  /** While its dates allow it. */
  usable(next = this.#stored, now = Date.now()): SignedNextKey | undefined {
    return next && now < next.notAfter && now > next.notBefore - skewMs ? next : undefined;
  }

  async learn(text: string, trusted: string, allowed: (pem: string) => boolean): Promise<string> {
    // It was acted on: the key that it names is trusted already.
    if (text.includes(`\n${trusted}\nsignature: `)) return 'known';
    const next = readNextKey(text, trusted);
    if (!next) return 'the trusted key did not sign it';
    if (this.#stored?.text === text) return 'known';
    if (next.number <= Math.max(this.#taken, this.#stored?.number ?? 0)) return 'it is older than one that is known';
    if (Date.now() >= next.notAfter) return 'its time is over';
    if (!allowed(next.pem)) return 'master_finger demands another key: correct it before the master changes its key';
    await replaceFile(this.path, text, 0o644);
    this.#stored = next;
    return 'stored';
  }

  /** Whether the trusted key named this one as the next, in a file or in an answer. */
  proves(pem: string, trusted: string, statement: string): boolean {
    const given = statement === '' ? undefined : readNextKey(statement, trusted);
    const proof = [given, this.#stored].find(
      (next) => next && this.usable(next)?.pem === pem && next.number > this.#taken,
    );
    this.#given = proof;
    return proof !== undefined;
  }

  /** The key is trusted now: no statement up to the one that proved it counts any more. */
  async taken(pem: string): Promise<void> {
    const used = [this.#given, this.#stored].find((next) => next?.pem === pem);
    this.#given = undefined;
    this.#stored = undefined;
    if (!used || used.number <= this.#taken) return;
    this.#taken = used.number;
    await replaceFile(this.#numberPath, `${used.number}\n`, 0o644);
  }
}

async function textOf(path: string): Promise<string> {
  try {
    const text = await readFile(path, 'utf8');
    return text.length <= longestFile ? text : '';
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
