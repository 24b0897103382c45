// Where a passphrase comes from: a file, a file descriptor or the terminal; never the command line, which others can see.
import { closeSync, openSync, readFileSync, statSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import { HaliteError } from '../../../base/errors/index.ts';
import type { Terminal } from '../../io.ts';

const least = 12;
const most = 1024;

export interface PassphraseFrom {
  readonly file: string;
  readonly fd: number | undefined;
}

/** The passphrase; a new one is asked for twice and must have a minimum length. */
export async function readPassphrase(from: PassphraseFrom, fresh: boolean, io: Terminal): Promise<string> {
  const said =
    from.fd !== undefined
      ? firstLine(readFileSync(from.fd, 'utf8'))
      : from.file !== ''
        ? fromFile(from.file)
        : await fromTerminal(fresh, io);
  if (said.length > most) throw new HaliteError('config.value', `The passphrase is longer than ${most} characters`);
  if (fresh && said.length < least)
    throw new HaliteError(
      'config.value',
      `The passphrase has ${said.length} characters: at least ${least} are needed`,
      {
        hint: 'Whoever has the file can try as many as they like.',
      },
    );
  return said;
}

const firstLine = (text: string): string => text.split(/\r?\n/, 1)[0] ?? '';

function fromFile(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat?.isFile()) throw new HaliteError('config.missing', `There is no file ${file} with a passphrase`);
  if ((stat.mode & 0o077) !== 0)
    throw new HaliteError('config.value', `Others can read the passphrase in ${file}`, { hint: `chmod 600 ${file}` });
  return firstLine(readFileSync(file, 'utf8'));
}

async function fromTerminal(fresh: boolean, io: Terminal): Promise<string> {
  let handle: number;
  try {
    handle = openSync('/dev/tty', 'r+');
  } catch {
    throw new HaliteError('config.missing', 'There is no terminal to ask for the passphrase', {
      hint: 'Name a file with it: passphrase_file=/root/passphrase, or a file descriptor: passphrase_fd=3',
    });
  }
  const input = new ReadStream(handle);
  try {
    const said = await typed(input, 'Passphrase: ', io);
    if (fresh && (await typed(input, 'The same again: ', io)) !== said)
      throw new HaliteError('config.value', 'The two passphrases differ');
    return said;
  } finally {
    input.destroy();
    try {
      closeSync(handle);
    } catch {
      // The stream has closed it.
    }
  }
}

/** One line without showing it. */
function typed(input: ReadStream, question: string, io: Terminal): Promise<string> {
  io.err(question);
  input.setRawMode(true);
  return new Promise((done, fail) => {
    let said = '';
    const end = (act: () => void): void => {
      input.off('data', take);
      input.setRawMode(false);
      input.pause();
      io.err('\n');
      act();
    };
    const take = (data: Buffer): void => {
      for (const character of data.toString('utf8')) {
        if ('\r\n'.includes(character)) {
          end(() => done(said));
          return;
        }
        if ('\u0003\u0004'.includes(character)) {
          end(() => fail(new HaliteError('call.failed', 'Ended without a passphrase')));
          return;
        }
        if (character === '\u007f' || character === '\b') said = [...said].slice(0, -1).join('');
        else if (said.length <= most) said += character;
      }
    };
    input.on('data', take);
    input.resume();
  });
}
