// Formats a JavaScript error as a Python traceback, which scripts around Salt search for.
import { messageOf, PythonException } from '../../base/errors/index.ts';

const frame = /^\s+at (?:async )?(?:(.+?) \()?(.+?):(\d+):\d+\)?$/;

/** `Traceback (most recent call last): … Exception: text`, innermost call last. */
export function pythonTraceback(thrown: unknown): string {
  if (thrown instanceof PythonException) return thrown.trace;
  const lines = ['Traceback (most recent call last):'];
  const stack = thrown instanceof Error ? (thrown.stack ?? '') : '';
  const frames = stack.split('\n').filter((line) => frame.test(line) && !line.includes('node:internal'));
  for (const line of frames.reverse()) {
    const [, name = '<anonymous>', file = '', row = '0'] = frame.exec(line) ?? [];
    lines.push(`  File "${fileName(file)}", line ${row}, in ${name}`);
  }
  lines.push(`${nameOf(thrown)}: ${messageOf(thrown)}`);
  return `${lines.join('\n')}\n`;
}

/**
 * A user's TypeScript is run from a `data:` URL that ends with the name of its file. Node prints that name by itself, but
 * not where a test runner prints traces.
 */
function fileName(url: string): string {
  const named = /^data:.*sourceURL%3D(.+)$/.exec(url)?.[1];
  const shown = named === undefined ? url : decodeURIComponent(decodeURIComponent(named));
  return shown.replace(/^file:\/\//, '');
}

/** A plain Error corresponds to Python's Exception; other kinds keep their name. */
function nameOf(thrown: unknown): string {
  const name = thrown instanceof Error ? thrown.name : 'Exception';
  return name === 'Error' ? 'Exception' : name;
}
