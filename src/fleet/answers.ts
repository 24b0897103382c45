// What simulated minions answer. No command is ever run, and nothing on this machine is read.
import { asText, type Dict, dictGet, isDict, newDict, type PlainDict, type Value } from '../base/codec/value.ts';
import { saltCompatVersion } from '../base/util/version.ts';
import { funName, type PublishedJob } from '../protocol/job/job.ts';
import { runningFields } from '../protocol/wire/messages/job.ts';

export interface Answer {
  readonly value: Value;
  readonly retcode: number;
  readonly out?: string;
}

/** The minion that is asked, as far as an answer depends on it. */
export interface Asked {
  readonly grains: () => PlainDict;
  readonly pillar: () => Dict;
  /** Jobs that it has taken and not answered yet. */
  readonly running: () => readonly PublishedJob[];
  readonly resultBytes: number;
}

type Fun = (asked: Asked, args: readonly Value[]) => Value;

const isKwargs = (value: Value): boolean => isDict(value) && dictGet(value, '__kwarg__') === true;
const first = (args: readonly Value[]): string => asText(args.find((arg) => !isKwargs(arg))) ?? '';

let filler = '';
function text(bytes: number): string {
  if (filler.length !== bytes) filler = 'x'.repeat(bytes);
  return filler;
}

const command: Fun = ({ resultBytes }, args) =>
  resultBytes > 0 ? text(resultBytes) : first(args).replace(/^echo\s+/, '');
const shown = (job: PublishedJob): PlainDict => runningFields(job, process.pid);
const one = (data: Dict, args: readonly Value[]): Value => dictGet(data, first(args)) ?? '';

const functions: Readonly<Record<string, Fun>> = {
  'test.ping': () => true,
  'test.echo': (_, args) => args.find((arg) => !isKwargs(arg)) ?? '',
  'test.arg': (_, args) =>
    newDict([
      ['args', args.filter((arg) => !isKwargs(arg))],
      ['kwargs', kwargsOf(args)],
    ]),
  'test.version': () => saltCompatVersion,
  'test.sleep': () => true,
  'cmd.run': command,
  'cmd.shell': command,
  'grains.items': ({ grains }) => grains(),
  'grains.get': ({ grains }, args) => one(grains(), args),
  'grains.item': ({ grains }, args) => newDict([[first(args), one(grains(), args)]]),
  'pillar.items': ({ pillar }) => pillar(),
  'pillar.get': ({ pillar }, args) => one(pillar(), args),
  'saltutil.find_job': ({ running }, args) => {
    const found = running().find(({ jid }) => jid === first(args));
    return found ? shown(found) : newDict();
  },
  'saltutil.running': ({ running }) => running().map(shown),
  'saltutil.refresh_pillar': () => true,
  'saltutil.sync_all': () => newDict(),
};

function kwargsOf(args: readonly Value[]): PlainDict {
  const kwargs = newDict();
  for (const arg of args) {
    if (!isKwargs(arg) || arg instanceof Map) continue;
    for (const [name, value] of Object.entries(arg as PlainDict)) if (name !== '__kwarg__') kwargs[name] = value;
  }
  return kwargs;
}

/** Questions about jobs are answered at once, whatever the fleet was told to delay or to lose. */
export const isQuestion = ({ fun }: PublishedJob): boolean =>
  fun === 'saltutil.find_job' || fun === 'saltutil.running' || fun === 'saltutil.term_job';

export const simulatedFailure: Answer = { value: 'ERROR: a failure that was asked for', retcode: 1 };

/** How long the function itself takes. */
export function ownMs({ fun, arg }: PublishedJob): number {
  const seconds = fun === 'test.sleep' ? Number(arg[0]) : 0;
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, 3600) * 1000 : 0;
}

export function answerOf(asked: Asked, { fun, arg }: PublishedJob): Answer {
  if (typeof fun !== 'string') return several(asked, fun, arg);
  const known = Object.hasOwn(functions, fun) ? functions[fun] : undefined;
  if (!known) return { value: `'${fun}' is not available.`, retcode: 254, out: 'nested' };
  return { value: known(asked, arg), retcode: 0 };
}

function several(asked: Asked, funs: readonly string[], arg: readonly Value[]): Answer {
  const value = newDict();
  let retcode = 0;
  for (const [at, fun] of funs.entries()) {
    const own = arg[at];
    const answer = answerOf(asked, { fun, arg: Array.isArray(own) ? own : [], jid: '', tgt: '', tgt_type: 'glob' });
    value[fun] = answer.value;
    retcode = Math.max(retcode, answer.retcode);
  }
  return { value, retcode };
}

export function returnLoad(id: string, job: PublishedJob, answer: Answer): PlainDict {
  const load = newDict([
    ['cmd', '_return'],
    ['id', id],
    ['success', answer.retcode === 0],
    ['return', answer.value],
    ['retcode', answer.retcode],
    ['jid', job.jid],
    ['fun', typeof job.fun === 'string' ? job.fun : [...job.fun]],
    ['fun_args', [...job.arg]],
  ]);
  if (job.user !== undefined) load['user'] = job.user;
  if (answer.out !== undefined) load['out'] = answer.out;
  const metadata = job.options?.metadata;
  if (metadata !== undefined) load['metadata'] = metadata;
  return load;
}

export const shortName = (job: PublishedJob): string => funName(job.fun).slice(0, 100);
