// Formats a JavaScript error as a Python traceback, which scripts around Salt search for.
import { messageOf } from '../../base/errors/index.ts';

const frame = /^\s+at (?:async )?(?:(.+?) \()?(.+?):(\d+):\d+\)?$/;

/** `Traceback (most recent call last): … Exception: text`, innermost call last. */
export function pythonTraceback(thrown: unknown): string {
  const lines = ['Traceback (most recent call last):'];
  const stack = thrown instanceof Error ? (thrown.stack ?? '') : '';
  const frames = stack.split('\n').filter((line) => frame.test(line) && !line.includes('node:internal'));
  for (const line of frames.reverse()) {
    const [, name = '<anonymous>', file = '', row = '0'] = frame.exec(line) ?? [];
    lines.push(`  File "${file.replace(/^file:\/\//, '')}", line ${row}, in ${name}`);
  }
  lines.push(`${nameOf(thrown)}: ${messageOf(thrown)}`);
  return `${lines.join('\n')}\n`;
}

/** A plain Error corresponds to Python's Exception; other kinds keep their name. */
function nameOf(thrown: unknown): string {
  const name = thrown instanceof Error ? thrown.name : 'Exception';
  return name === 'Error' ? 'Exception' : name;
}
