// Asks for a password on the terminal without showing it.
import { exitCodes } from '../base/util/exit-codes.ts';
import type { Terminal } from './io.ts';
import { Exit } from './main.ts';

const interrupt = '\x03';
const ends = new Set(['\r', '\n', '\x04']);
const erases = new Set(['\b', '\x7f']);

export function askHidden(question: string, io: Terminal): Promise<string> {
  const { stdin } = process;
  io.err(question);
  stdin.setRawMode(true);
  stdin.setEncoding('utf8');
  return new Promise((resolve, reject) => {
    let text = '';
    const finish = (settle: () => void): void => {
      stdin.off('data', read);
      stdin.setRawMode(false);
      stdin.pause();
      io.err('\n');
      settle();
    };
    const read = (typed: string): void => {
      for (const character of typed) {
        if (character === interrupt || ends.has(character)) {
          finish(() => (character === interrupt ? reject(new Exit(exitCodes.generic)) : resolve(text)));
          return;
        }
        text = erases.has(character) ? text.slice(0, -1) : text + character;
      }
    };
    stdin.on('data', read);
    stdin.resume();
  });
}
