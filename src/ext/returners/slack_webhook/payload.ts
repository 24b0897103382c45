// A result as attachments of a Slack message: job, duration, and for states what changed and what failed.
import {
  asNumber,
  type Dict,
  dictEntries,
  dictGet,
  dictSize,
  isDict,
  newDict,
  type PlainDict,
  pyRepr,
  pyStr,
  type Value,
} from 'halite/sdk';
import { dumpYaml } from 'halite/sdk/codec';
import { sprinkle } from '../shared/loads.ts';

export interface PayloadRules {
  readonly success_title: string;
  readonly failure_title: string;
  readonly author_icon: string;
  readonly show_tasks: boolean;
}

interface Tally {
  readonly total: number;
  readonly changed: string[];
  readonly failed: string[];
  readonly seconds: number;
}

const isFailed = (result: Value | undefined): boolean => result === false || result === null;

/** States, when the result is about states. */
function tallyOf(returned: Value): Tally | undefined {
  if (!isDict(returned)) return undefined;
  const states = dictEntries(returned).filter((entry): entry is [Value, Dict] => isDict(entry[1]));
  const [first] = states;
  if (!first || !(first[1] instanceof Map ? first[1].has('__id__') : Object.hasOwn(first[1], '__id__')))
    return undefined;
  const place = (data: Dict): number => asNumber(dictGet(data, '__run_num__')) ?? 0;
  const tally = { total: states.length, changed: [] as string[], failed: [] as string[], seconds: 0 };
  for (const [uid, data] of states.sort(([, a], [, b]) => place(a) - place(b))) {
    const task = `${pyStr(dictGet(data, '__sls__'))}.sls | ${pyStr(uid).split('_|-')[1] ?? ''}`;
    const changes = dictGet(data, 'changes');
    if (isFailed(dictGet(data, 'result'))) tally.failed.push(task);
    if (isDict(changes) && dictSize(changes) > 0) tally.changed.push(task);
    tally.seconds += (asNumber(dictGet(data, 'duration')) ?? 0) / 1000;
  }
  return tally;
}

function shown(returned: Value): string {
  return isDict(returned) ? `\n${dumpYaml(returned)}` : pyStr(returned);
}

const dict = (fields: Record<string, Value>): PlainDict => newDict(Object.entries(fields));

function counted(color: string, word: string, tasks: readonly string[], count: number, show: boolean): PlainDict {
  const fields = tasks.map((task) => dict({ value: task, short: false }));
  return dict({ color, title: `${word}: ${count}`, ...(show && fields.length > 0 ? { fields } : {}) });
}

/** The whole message. `author` is the minion, for events of others than this one. */
export function payloadOf(ret: PlainDict, rules: PayloadRules, grains: PlainDict, author: string): PlainDict {
  const success = (asNumber(ret['retcode']) ?? 1) === 0;
  const title = sprinkle(success ? rules.success_title : rules.failure_title, grains);
  const returned = ret['return'] ?? null;
  const tally = tallyOf(returned);
  const args = Array.isArray(ret['fun_args']) ? ret['fun_args'] : [];
  const lines = [
    `Function: ${pyStr(ret['fun'])}\n`,
    ...(args.length > 0 ? [`Function Args: ${pyRepr(args.map(pyStr))}\n`] : []),
    `JID: ${pyStr(ret['jid'])}\n`,
    ...(tally ? [`Total: ${tally.total}\n`, `Duration: ${tally.seconds.toFixed(2)} secs`] : []),
  ];
  const head = dict({
    fallback: title,
    color: '#272727',
    author_name: author,
    author_link: sprinkle('{localhost}', grains),
    author_icon: rules.author_icon,
    title: `Success: ${success ? 'True' : 'False'}`,
    text: lines.join(''),
  });
  const rest = tally
    ? [
        counted('good', 'Unchanged', [], tally.total - tally.failed.length - tally.changed.length, false),
        counted('warning', 'Changed', tally.changed, tally.changed.length, rules.show_tasks),
        counted('danger', 'Failed', tally.failed, tally.failed.length, rules.show_tasks),
      ]
    : [dict({ color: success ? 'good' : 'danger', title: `Return: ${shown(returned)}` })];
  return dict({ attachments: [head, ...rest] });
}
