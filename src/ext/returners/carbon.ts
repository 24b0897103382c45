// Returner `carbon`: sends numbers in results as metrics to Graphite.
import { defineReturner, dictEntries, HaliteError, isDict, messageOf, p, pyStr, type Value } from 'halite/sdk';
import { hostPort } from '../shared/http/request.ts';
import { arrivalMillis, keysOf } from './shared/loads.ts';
import { type Metric, metricLines, metricPickle, numberOf } from './shared/metrics.ts';
import { sendBytes } from './shared/socket.ts';

/** Every number inside a value: keys of dicts and items of lists become parts of the name. */
function* walk(path: string, value: Value, skip: boolean): Generator<readonly [string, number]> {
  if (isDict(value)) {
    for (const [key, item] of dictEntries(value)) yield* walk(`${path}.${pyStr(key)}`, item, skip);
  } else if (Array.isArray(value)) {
    for (const item of value) yield* walk(`${path}.${pyStr(item)}`, item, skip);
  } else {
    const number = numberOf(value);
    if (number !== undefined) yield [path, number];
    else if (!skip) {
      const shown = pyStr(value).slice(0, 100);
      const text = `Error in carbon returner, when trying to convert metric: ${path}, with val: ${shown}`;
      throw new HaliteError('call.arguments', text, { hint: 'carbon.skip_on_error leaves out what is no number' });
    }
  }
}

/** The metrics of a value, at a time in milliseconds. */
export function metricsIn(base: string, value: Value, millis: number, skip: boolean): Metric[] {
  const seconds = Math.trunc(millis / 1000);
  return [...walk(base, value, skip)].map(([path, number]) => ({ path, value: number, seconds }));
}

/** `[module].[function].[minion_id]` filled in. Dots of the minion's id would make levels. */
export function metricBase(pattern: string, fun: string, id: string): string {
  const dot = fun.indexOf('.');
  const [module, name] = dot < 0 ? [fun, ''] : [fun.slice(0, dot), fun.slice(dot + 1)];
  // Virtual machines move between hosts: their metrics keep one name.
  if (module === 'virt') return fun;
  const parts: Record<string, string> = { module, function: name, minion_id: id.replaceAll('.', '_') };
  return pattern.replace(/\[(module|function|minion_id)\]/g, (_, word: string) => parts[word] ?? '');
}

export default defineReturner({
  name: 'carbon',
  doc:
    'Sends the numbers of results to a carbon receiver of Graphite, named ' +
    '`[module].[function].[minion_id].<path inside the result>`.',
  keeps: ['events'],
  options: {
    host: p.string({ doc: 'Name or address of the receiver.' }),
    port: p.int({ default: 2003, doc: 'Its port: 2003 for lines, 2004 for pickle, unless changed there.' }),
    skip_on_error: p.bool({
      default: false,
      aliases: ['skip'],
      doc: 'Skip values that are not numbers instead of failing.',
    }),
    mode: p.string({ default: 'text', doc: '`text` for lines or `pickle`.' }),
    metric_base_pattern: p.string({
      default: '[module].[function].[minion_id]',
      doc: 'Prefix of the names of metrics.',
    }),
  },
  open({ host, port, skip_on_error, mode, metric_base_pattern }, ctx) {
    const format = mode.toLowerCase() === 'pickle' ? metricPickle : metricLines;
    const send = async (metrics: readonly Metric[]): Promise<void> => {
      if (metrics.length === 0) return;
      await sendBytes({ host, port, signal: ctx.signal }, format(metrics)).catch((error: unknown) => {
        const text = `carbon at ${hostPort(host, port)} cannot be reached: ${messageOf(error)}`;
        throw new HaliteError('store.unavailable', text);
      });
    };
    return {
      async save(ret) {
        const { fun, id } = keysOf(ret);
        const base = metricBase(metric_base_pattern, fun, id);
        await send(metricsIn(base, ret['return'] ?? null, arrivalMillis(ret), skip_on_error));
      },
      async saveEvents(events) {
        await send(events.flatMap(({ tag, data }) => metricsIn(tag, data['data'] ?? null, arrivalMillis(data), true)));
      },
    };
  },
});
