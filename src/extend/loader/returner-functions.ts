// The functions of a returner by Salt's names, for `sys.*`: its object methods are shown as functions.
import { type FunctionInfo, type Params, p, type ReturnerKeeps } from '../sdk/index.ts';
import type { Loaded } from './loader.ts';

interface Described {
  readonly doc: string;
  readonly params: Params;
  readonly needs?: ReturnerKeeps;
}

const jid = p.any({ doc: 'the job id' });
const described: Readonly<Record<string, Described>> = {
  returner: { doc: 'Stores the result of a job.', params: { ret: p.any({ doc: 'the return of a minion' }) } },
  event_return: { doc: 'Stores events of the master.', params: { events: p.any() }, needs: 'events' },
  get_fun: { doc: 'The last result of a function, by minion.', params: { fun: p.any() }, needs: 'jobs' },
  get_jid: { doc: 'The results of a job, by minion.', params: { jid }, needs: 'jobs' },
  get_jids: { doc: 'All jobs, by their ids.', params: {}, needs: 'jobs' },
  get_load: { doc: 'A job as it was published.', params: { jid }, needs: 'jobs' },
  get_minions: { doc: 'The minions that have results here.', params: {}, needs: 'jobs' },
  save_load: {
    doc: 'Stores a job before it is published.',
    params: { jid, load: p.any(), minions: p.any({ default: null }) },
    needs: 'jobs',
  },
};

const offers = (returner: Loaded<'returners'>, { needs }: Described): boolean =>
  needs === undefined || (returner.extension.keeps ?? []).includes(needs);

/** Full names: `mysql.returner`, … */
export function returnerFunctions(returner: Loaded<'returners'>): string[] {
  return Object.entries(described)
    .filter(([, item]) => offers(returner, item))
    .map(([name]) => `${returner.name}.${name}`);
}

export function returnerFunction(returner: Loaded<'returners'>, fullName: string): FunctionInfo | undefined {
  const name = fullName.slice(returner.name.length + 1);
  const item = Object.hasOwn(described, name) ? described[name] : undefined;
  if (!item || !offers(returner, item)) return undefined;
  const doc = name === 'returner' ? `${returner.extension.doc}${optionsText(returner)}` : item.doc;
  return { name: fullName, doc: `\n    ${doc}\n    `, params: item.params };
}

/** The options are the part of a returner's documentation that people look for. */
function optionsText({ extension, name }: Loaded<'returners'>): string {
  const prefix = extension.optionPrefix ?? name;
  const lines = Object.entries(extension.options).map(([option, param]) => {
    const usual = param.required || param.default === null ? '' : ` (${String(param.default)})`;
    return `\n        ${prefix}.${option}: ${param.doc}${usual}`;
  });
  return lines.length > 0 ? `\n\n    Options:\n${lines.join('')}` : '';
}
