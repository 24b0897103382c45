// The query language of the job history: `fun=state.* and failed since 2d`. All conditions must hold.
import { HaliteError } from '../../base/errors/index.ts';
import { jidToMillis } from '../../base/util/jid.ts';

export interface JobQuery {
  readonly conditions: readonly string[];
  readonly values: readonly (string | number)[];
  /** Only jobs that some minion has not answered yet. */
  readonly running: boolean;
  readonly internal: boolean;
}

const mostTerms = 32;
/** Each one multiplies the time for a job by the length of the text. */
const mostStars = 2;

const hasFailed = 'EXISTS (SELECT 1 FROM ret r WHERE r.jid = j.jid AND NOT (r.retcode = 0 AND r.success = 1))';
const hasMissing =
  "EXISTS (SELECT 1 FROM verdict v WHERE v.jid = j.jid AND v.reason <> '' AND NOT EXISTS " +
  '(SELECT 1 FROM ret r WHERE r.jid = v.jid AND r.id = v.id))';

/** The list is JSON: an id with its quotes is found in no longer one. */
export const hasMinion = 'instr(j.expected, ?) > 0';
export const quotedId = (id: string): string => JSON.stringify(id);

const fields: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['fun', 'user', 'tgt', 'jid'].map((name) => [name, `substr(j.${name}, 1, 200) GLOB ?`])),
  id: hasMinion,
};

const flags: Readonly<Record<string, string>> = {
  failed: hasFailed,
  missing: hasMissing,
  scheduled: 'j.load LIKE \'%"schedule":%\'',
};

const wrong = (text: string): HaliteError =>
  new HaliteError('call.arguments', text, {
    hint: 'A query has words, fun=, user=, tgt=, jid=, id=, failed, missing, running, scheduled, internal, since 2d, until 1h.',
  });

export function readJobQuery(q: string, now = Date.now()): JobQuery {
  const terms = q.split(/\s+/).filter((term) => term !== '' && term.toLowerCase() !== 'and');
  if (terms.length > mostTerms) throw wrong(`The query has more than ${mostTerms} terms.`);
  const conditions: string[] = [];
  const values: (string | number)[] = [];
  const found = { running: false, internal: false };
  const add = (condition: string, ...given: (string | number)[]): void => {
    conditions.push(condition);
    values.push(...given);
  };
  for (let at = 0; at < terms.length; at++) {
    const term = terms[at] as string;
    const equals = term.indexOf('=');
    const field = equals > 0 ? fields[term.slice(0, equals)] : undefined;
    if (term === 'since' || term === 'until') {
      const time = timeOf(terms[++at] ?? '', now);
      add(term === 'since' ? 'j.started >= ?' : 'j.started <= ?', time);
    } else if (term === 'running') found.running = true;
    else if (term === 'internal') found.internal = true;
    else if (Object.hasOwn(flags, term)) add(flags[term] as string);
    else if (equals > 0 && !Object.hasOwn(fields, term.slice(0, equals)))
      throw wrong(`A query has no field '${term.slice(0, equals).slice(0, 64)}'.`);
    else if (field === hasMinion) add(field, quotedId(term.slice(equals + 1)));
    else if (field !== undefined) add(field, pattern(term.slice(equals + 1)));
    else {
      const text = `%${term.replace(/[\\%_]/g, '\\$&')}%`;
      add(`(${['fun', 'tgt', 'user', 'jid'].map((name) => `j.${name} LIKE ? ESCAPE '\\'`).join(' OR ')})`);
      values.push(text, text, text, text);
    }
  }
  return { conditions, values, ...found };
}

function pattern(text: string): string {
  if (text.split('*').length - 1 > mostStars) throw wrong(`A pattern has at most ${mostStars} stars.`);
  return text;
}

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** `2d` ago, a jid, or a time in ISO form. */
function timeOf(text: string, now: number): number {
  const ago = /^(\d{1,6})([smhdw])$/.exec(text);
  if (ago) return now - Number(ago[1]) * (units[ago[2] ?? ''] ?? 1) * 1000;
  const time = jidToMillis(text) ?? (/^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN);
  if (!Number.isFinite(time)) throw wrong(`'${text.slice(0, 64)}' is no time.`);
  return time;
}
