// State module `http`: checks the answer of a web address.
import { setTimeout as pause } from 'node:timers/promises';
import {
  defineState,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
  withForecast,
} from 'halite/sdk';
import { pyRegexSearch } from 'halite/sdk/text';

const queryParams = {
  name: p.string({ doc: 'the address' }),
  match: p.scalar({ default: null, doc: 'text the answer must contain' }),
  match_type: p.string({ default: 'string', doc: 'string or pcre' }),
  status: p.oneOf(['int', 'string', 'list'], { default: null, doc: 'status the answer must have' }),
  status_type: p.string({ default: 'string', doc: 'string, pcre or list' }),
};
const kwargs = p.kwargs({ doc: 'passed on to http.query' });

interface Query {
  readonly name: string;
  readonly match: Value;
  readonly match_type: string;
  readonly status: Value;
  readonly status_type: string;
  readonly kwargs: PlainDict;
}

interface Verdict {
  readonly fine: boolean;
  readonly comment: string;
}

function matchText({ match, match_type: kind }: Query, text: string): Verdict | undefined {
  if (match === null || (kind !== 'string' && kind !== 'pcre')) return undefined;
  const wanted = pyStr(match);
  const fine = kind === 'pcre' ? pyRegexSearch(wanted).test(text) : text.includes(wanted);
  return {
    fine,
    comment: `Match ${kind === 'pcre' ? 'pattern' : 'text'} "${wanted}" was ${fine ? '' : 'not '}found.`,
  };
}

function matchStatus(
  { status, status_type: kind }: Query,
  got: string,
  before: boolean | undefined,
): Verdict | undefined {
  if (status === null) return undefined;
  if (kind === 'list') {
    const hits = (Array.isArray(status) ? status : [...pyStr(status)]).filter((item) => pyStr(item) === got);
    const fine = hits.length > 0 && before !== false;
    const said = hits.map((item) => `Status ${pyStr(item)} was found.`);
    const comments = [...said, ...(fine ? [] : [`Statuses ${pyStr(status)} were not found.`])];
    return { fine, comment: comments.join(' ') };
  }
  if (kind !== 'pcre' && kind !== 'string') return undefined;
  const wanted = pyStr(status);
  const fine = kind === 'pcre' ? pyRegexSearch(wanted).test(got) : wanted === got;
  const shown = kind === 'pcre' ? `pattern "${wanted}"` : wanted;
  return { fine, comment: `Status ${shown} was ${fine ? '' : 'not '}found.` };
}

async function query(args: Query, waitFor: Value, ctx: StateContext): Promise<StateResult> {
  if (args.match === null && args.status === null)
    return ctx.fail(' Either match text (match) or a status code (status) is required.', { data: newDict() });
  const request = newDict([
    ['decode', false],
    ...Object.entries(args.kwargs),
    ['text', true],
    ['status', true],
    // The function has a test mode of its own.
    ...(ctx.test ? [['test', true] as [string, Value]] : []),
  ]);
  const data = textKeyed(
    waitFor
      ? await ctx.callWith('http.wait_for_successful_query', [args.name], { ...request, wait_for: waitFor })
      : await ctx.callWith('http.query', [args.name], request),
  );
  const text = matchText(args, pyStr(data['text'] ?? ''));
  const status = matchStatus(args, pyStr(data['status'] ?? ''), text?.fine);
  const verdicts = [text, status].filter((verdict) => verdict !== undefined);
  const comment = verdicts.map((verdict) => verdict.comment).join(' ');
  const url = args.kwargs['test_url'];
  const mode = ` (TEST MODE${url === undefined ? '' : `, TEST URL WAS: ${pyStr(url)}`})`;
  const result = verdicts.length === 0 ? null : verdicts.every((verdict) => verdict.fine);
  return withForecast(
    ctx,
    () => ctx.result({ result: null, comment: `${comment}${mode}`, data }),
    () => ctx.result({ result, comment, data }),
  );
}

/** Repeats the request until the answer is as expected, or the timeout is reached. */
async function repeat(args: Query, seconds: number, ctx: StateContext): Promise<StateResult> {
  const end = Date.now() + seconds * 1000;
  const interval = Number(args.kwargs['request_interval'] ?? 0);
  for (;;) {
    let failure: unknown;
    let last: StateResult | undefined;
    try {
      last = await query(args, null, ctx);
      // Under test no request is sent, so a repetition would not help.
      if (last.result || ctx.test) return last;
    } catch (error) {
      failure = error;
    }
    ctx.signal.throwIfAborted();
    if (Date.now() > end) {
      if (last) return last;
      throw failure;
    }
    // Without an interval Salt repeats as fast as possible; a short pause keeps the minion responsive.
    await pause(Math.max(interval * 1000, 50), undefined, { signal: ctx.signal });
  }
}

export default defineState({
  name: 'http',
  doc: 'Checks the answer of a web address.',
  functions: {
    query: state({
      doc: 'An address that must answer with a text or a status.',
      examples: ['http://localhost/health:\n  http.query:\n    - status: 200\n    - match: OK'],
      params: { ...queryParams, wait_for: p.scalar({ default: null, doc: 'seconds to retry' }), kwargs },
      run: ({ wait_for, ...args }, ctx) => query(args, wait_for, ctx),
    }),
    wait_for_successful_query: state({
      doc: 'Waits until an address answers as expected.',
      examples: ['http://localhost/health:\n  http.wait_for_successful_query:\n    - status: 200\n    - wait_for: 60'],
      params: { ...queryParams, wait_for: p.float({ default: 300, doc: 'seconds' }), kwargs },
      run: ({ wait_for, ...args }, ctx) => repeat(args, wait_for, ctx),
    }),
  },
});
