// `halite completion <shell>` prints what a shell loads; `halite complete <shell> <line>` is what that asks for each time.
import { nearest } from '../../base/util/nearest.ts';
import type { Terminal } from '../io.ts';
import { candidates } from './candidates.ts';
import { completionScript, type Shell, shells } from './scripts.ts';
import type { Candidate } from './sources.ts';
import { readTypedLine, type TypedLine } from './typed-line.ts';

const shellOf = (word: string | undefined): Shell | undefined => shells.find((known) => known === word);

/** Returns what is wrong with the arguments, if anything is. */
export function printCompletion(words: readonly string[], io: Terminal): string | undefined {
  const shell = words.length === 1 ? shellOf(words[0]) : undefined;
  if (shell) {
    io.out(completionScript(shell));
    return undefined;
  }
  const meant = nearest(words[0] ?? '', shells);
  return `completion takes one of ${shells.join(', ')}${meant ? `; did you mean ${meant}?` : ''}`;
}

/** An error is no help in the middle of typing: there are then no candidates. */
export async function complete(words: readonly string[], io: Terminal): Promise<void> {
  const shell = shellOf(words[0]);
  if (!shell || words[1] === undefined) return;
  const line = readTypedLine(words[1]);
  const all = await candidates(line).catch(() => []);
  const found = shell === 'bash' ? all.filter(({ value }) => harmless.test(value)) : all;
  if (found.length > 0) io.out(`${found.map((one) => textFor(shell, line, one)).join('\n')}\n`);
}

/**
 * bash puts a candidate into the line as it is, and runs it at the next Enter: an id like `$(reboot)`, which anybody may send to a
 * master, is not offered. zsh and fish quote what they put there.
 */
const harmless = /^[\p{L}\p{N}\p{M}_.:@%+,=-]*$/u;

/** bash takes `:` and `=` for ends of words, and puts back only what follows the last of them. */
function textFor(shell: Shell, { typed }: TypedLine, { value, about }: Candidate): string {
  if (shell === 'fish') return about ? `${value}\t${about}` : value;
  if (shell === 'zsh') return value;
  const cut = Math.max(typed.lastIndexOf(':'), typed.lastIndexOf('='));
  return cut < 0 ? value : value.slice(cut + 1);
}
