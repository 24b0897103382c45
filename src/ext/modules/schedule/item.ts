// Building an entry of the schedule from keyword arguments.
import { dictGet, isDict, newDict, oneOrMore, type PlainDict, pyStr, type Value } from 'halite/sdk';
import { parseDateText } from 'halite/sdk/time';

const elements = ['seconds', 'minutes', 'hours', 'days'] as const;
const taken = [
  ...['range', 'when', 'once', 'once_fmt', 'cron', 'returner', 'after', 'return_config', 'return_kwargs', 'until'],
  ...['run_on_start', 'skip_during_range'],
];

/** A job cannot have both `seconds` and `when`. */
export const timesConflict = (kwargs: PlainDict): boolean =>
  elements.some((key) => key in kwargs) && ('when' in kwargs || 'cron' in kwargs);

export const togetherText = 'Unable to use "when" and "cron" options together.  Ignoring.';

const refused = (comment: string): PlainDict =>
  newDict([
    ['comment', comment],
    ['result', false],
  ]);

/** Why an entry cannot be built from these arguments. */
function problem(name: string, kwargs: PlainDict): string | undefined {
  if (!name) return 'Job name is required.';
  if (timesConflict(kwargs))
    return 'Unable to use "seconds", "minutes", "hours", or "days" with "when" or "cron" options.';
  if ('when' in kwargs && 'cron' in kwargs) return togetherText;
  if ('job_args' in kwargs && !Array.isArray(kwargs['job_args']))
    return 'job_args is not a list. please correct and try again.';
  if ('job_kwargs' in kwargs && !isDict(kwargs['job_kwargs'] ?? null))
    return 'job_kwargs is not a dict. please correct and try again.';
  const when = kwargs['when'];
  for (const text of when === undefined ? [] : oneOrMore(when))
    if (!(text instanceof Date) && !parseDateText(pyStr(text), new Date()))
      return `Schedule item ${pyStr(text)} for "when" in invalid.`;
  return undefined;
}

/** The entry, or `{comment, result: false}`. */
export function buildItem(name: string, kwargs: PlainDict): PlainDict {
  const wrong = problem(name, kwargs);
  if (wrong !== undefined) return refused(wrong);
  const item = newDict([['function', kwargs['function'] ?? null]]);
  const take = (key: string, as = key): void => {
    if (key in kwargs) item[as] = kwargs[key] as Value;
  };
  for (const key of [...elements, 'return_job', 'metadata']) take(key);
  take('job_args', 'args');
  take('job_kwargs', 'kwargs');
  item['maxrunning'] = kwargs['maxrunning'] ?? 1;
  item['name'] = name;
  item['enabled'] = kwargs['enabled'] ?? true;
  item['jid_include'] = kwargs['jid_include'] ?? true;
  const splay = kwargs['splay'];
  if (isDict(splay ?? null))
    item['splay'] = newDict(
      (['start', 'end'] as const).map((key) => [key, dictGet(splay as PlainDict, key) ?? null] as [string, Value]),
    );
  else take('splay');
  for (const key of taken) take(key);
  return item;
}

export const isRefused = (item: PlainDict): boolean => 'result' in item && item['result'] !== true;
