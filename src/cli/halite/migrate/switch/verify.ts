// Who answers a master, by its own command `salt`: the same question before and after.
import { setTimeout as sleep } from 'node:timers/promises';
import { dictEntries, isDict, type Value } from '../../../../base/codec/value.ts';
import { visibleLine } from '../../../../base/util/visible.ts';
import { commandOf, run, type Side } from './side.ts';

const commandMs = 120_000;
const pauseMs = 1000;

/** Answers to a ping by minion: true, or what was said instead. */
async function ping(side: Side, configDir: string, target: readonly string[]): Promise<Map<string, Value>> {
  const words = ['-c', configDir, ...target, 'test.ping', '--out=json', '--static', '-t', '10'];
  const [program, ...first] = commandOf(side, 'salt');
  const { stdout } = await run(program, [...first, ...words], commandMs);
  const start = stdout.indexOf('{');
  if (start === -1) return new Map();
  try {
    const said = JSON.parse(stdout.slice(start)) as Value;
    return new Map(isDict(said) ? dictEntries(said).map(([id, value]) => [String(id), value]) : []);
  } catch {
    return new Map();
  }
}

/** Minions that answer now; the others with what is said about them. */
export async function whoAnswers(side: Side, configDir: string): Promise<{ yes: string[]; no: string[] }> {
  const answers = await ping(side, configDir, ['*']);
  // A slow one is asked again: whoever is not counted now could be lost unnoticed.
  const slow = [...answers.keys()].filter((id) => answers.get(id) !== true);
  if (slow.length > 0)
    for (const [id, answer] of await ping(side, configDir, ['-L', slow.join(',')])) answers.set(id, answer);
  const ids = [...answers.keys()].sort();
  const yes = ids.filter((id) => answers.get(id) === true);
  return { yes, no: ids.filter((id) => !yes.includes(id)) };
}

export interface Verdict {
  readonly id: string;
  readonly answers: boolean;
  readonly text: string;
}

/** Asks until each of them has answered once, or the time is over; then a verdict for every minion. */
export async function verify(
  side: Side,
  configDir: string,
  before: readonly string[],
  { seconds, say }: { seconds: number; say(text: string): void },
): Promise<Verdict[]> {
  const deadline = Date.now() + seconds * 1000;
  const here = new Set<string>();
  const last = new Map<string, Value>();
  let left = [...before];
  let all = true;
  while (left.length > 0 || all) {
    const answers = await ping(side, configDir, all ? ['*'] : ['-L', left.join(',')]);
    // The first question is for all: also those that did not answer before.
    all = all && answers.size === 0 && Date.now() < deadline;
    for (const [id, answer] of answers) answer === true ? here.add(id) : last.set(id, answer);
    left = before.filter((id) => !here.has(id));
    if (left.length === 0 || Date.now() > deadline) break;
    say(`${before.length - left.length} of ${before.length} minions answer`);
    await sleep(pauseMs);
  }
  const ids = [...new Set([...before, ...here, ...last.keys()])].sort();
  return ids.map((id) => {
    const known = before.includes(id);
    if (here.has(id)) return { id, answers: true, text: known ? 'answers, as before' : 'answers; before it did not' };
    const said = last.get(id);
    const why = typeof said === 'string' ? `: ${visibleLine(said.split('\n').at(-1) ?? '').slice(0, 200)}` : '';
    return { id, answers: false, text: known ? `LOST: it answered before${why}` : `does not answer, as before${why}` };
  });
}

export function verdictText(verdicts: readonly Verdict[]): string {
  const width = Math.min(40, Math.max(0, ...verdicts.map(({ id }) => id.length)));
  return verdicts.map(({ id, text }) => `  ${visibleLine(id).padEnd(width)}  ${text}\n`).join('');
}
