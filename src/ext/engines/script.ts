// Engine `script`: runs a program again and again, and fires an event for each line that it prints.
import { setTimeout as wait } from 'node:timers/promises';
import {
  asDict,
  asText,
  defineEngine,
  dictEntries,
  dictGet,
  dictOf,
  type EngineContext,
  HaliteError,
  isDict,
  messageOf,
  newDict,
  p,
  pyEquals,
  type Value,
} from 'halite/sdk';
import { shellSplit } from 'halite/sdk/text';
import { serializerFor } from '../shared/serializers/serializers.ts';

const longestLine = 1024 * 1024;
/** Lines that wait because the program is faster than the master takes events. */
const mostWaiting = 10_000;
const mostSaid = 20;

/** Cuts chunks of output into lines. */
class Lines {
  #rest = '';
  readonly #onLine: (line: string) => void;

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  push(text: string): void {
    const parts = (this.#rest + text).split('\n');
    this.#rest = parts.pop()!.slice(0, longestLine);
    for (const line of parts) if (line.trim() !== '') this.#onLine(line);
  }

  end(): void {
    if (this.#rest.trim() !== '') this.#onLine(this.#rest);
    this.#rest = '';
  }
}

interface Script {
  readonly program: string;
  readonly args: readonly string[];
  readonly read: (line: string) => Value;
  /** Tag → data of the last event, with `onchange`. */
  readonly last: Map<string, Value> | undefined;
  /** Problems of lines that were logged: each run may have the same. */
  readonly said: Set<string>;
}

async function fireLine(line: string, { read, last, said }: Script, ctx: EngineContext): Promise<void> {
  let event: Value;
  try {
    event = read(line);
  } catch (error) {
    const problem = messageOf(error);
    if (!said.has(problem) && said.size < mostSaid)
      ctx.log.warn(`a line of the script cannot be read: ${problem}`, { line: line.slice(0, 200) });
    said.add(problem);
    return;
  }
  const tag = isDict(event) ? asText(dictGet(event, 'tag')) : undefined;
  if (!isDict(event) || !tag) return;
  const given = asDict(dictGet(event, 'data')) ?? newDict();
  const entries = dictEntries(given);
  const named = entries.length > 0 && dictGet(given, 'id') === undefined;
  const data = named ? dictOf([...entries, ['id', ctx.id]]) : given;
  const before = last?.get(tag);
  if (before !== undefined && pyEquals(before, data)) return;
  await ctx.fire(tag, data);
  last?.set(tag, data);
}

/** One run of the program, until its last line is fired. */
async function runOnce(script: Script, ctx: EngineContext): Promise<void> {
  let firing: Promise<void> = Promise.resolve();
  let waiting = 0;
  let dropped = 0;
  const lines = new Lines((line) => {
    if (waiting >= mostWaiting) {
      dropped++;
      return;
    }
    waiting++;
    firing = firing
      .then(() => fireLine(line, script, ctx))
      .catch((error: unknown) => ctx.log.error(`an event of the script was not sent: ${messageOf(error)}`))
      .finally(() => {
        waiting--;
      });
  });
  const result = await ctx.exec(script.program, script.args, {
    mergeStderr: true,
    // Only lines count; the whole output is of no use.
    maxOutputBytes: 0,
    onOutput: (text) => lines.push(text),
  });
  lines.end();
  await firing;
  if (dropped > 0) ctx.log.warn(`${dropped} lines of the script were left out: it prints faster than events are taken`);
  if (result.retcode !== 0) ctx.log.error(`the script ended with status ${result.retcode}`);
}

export default defineEngine({
  name: 'script',
  doc: 'Runs a program again and again; each line that it prints is a map with `tag` and `data`, which becomes an event.',
  examples: ['engines:\n  - script:\n      cmd: /usr/local/bin/watch-queue\n      output: json\n      interval: 5'],
  params: {
    cmd: p.string({ doc: 'The program with its arguments; there is no shell.' }),
    output: p.string({ default: 'json', doc: 'The form of a line: json, yaml, or another serializer.' }),
    interval: p.float({ default: 1, doc: 'Seconds between its end and the next start.' }),
    onchange: p.bool({ default: false, doc: 'Fire an event only when its data differ from the last one of its tag.' }),
  },
  async start({ cmd, output, interval, onchange }, ctx) {
    const [program, ...args] = shellSplit(cmd);
    if (program === undefined) throw new HaliteError('config.value', 'script: cmd is empty');
    const read = serializerFor(output, 'deserialize');
    const last = onchange ? new Map<string, Value>() : undefined;
    const script = { program, args, read: (line: string) => read(line, newDict()), last, said: new Set<string>() };
    while (!ctx.signal.aborted) {
      await runOnce(script, ctx);
      await wait(Math.max(0.05, interval) * 1000, undefined, { signal: ctx.signal }).catch(() => undefined);
    }
  },
});
