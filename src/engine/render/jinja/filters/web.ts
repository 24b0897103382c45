// Built-in filters for URLs.
import { filterArgumentError } from '../errors.ts';
import { define, type FunctionTable, tableOf } from '../runtime/define.ts';
import { PyDict } from '../runtime/dict.ts';
import { toArray, truth, tryIterate, unpack } from '../runtime/iterate.ts';
import { escapeHtml, isText, Markup } from '../runtime/markup.ts';
import { repr, str } from '../runtime/print.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { pyLength, pySlice, spaceClass } from '../runtime/text.ts';
import type { PyValue } from '../runtime/value.ts';
import { intOf } from './support.ts';
import { toMarkupText, urlQuote } from './text.ts';

function urlencode(value: PyValue): string {
  if (isText(value) || value instanceof Uint8Array || tryIterate(value) === undefined) return urlQuote(value, false);
  const pairs = value instanceof PyDict ? [...value.entries()] : toArray(value).map((pair) => unpack(pair, 2));
  return pairs.map(([key, item]) => `${urlQuote(key!, true)}=${urlQuote(item!, true)}`).join('&');
}

const webAddress =
  /^((https?:\/\/|www\.)(([\p{L}\p{N}_%-]+\.)+)?([a-z]{2,63}|xn--[\p{L}\p{N}_%]{2,59})|([\p{L}\p{N}_%-]{2,63}\.)+(com|net|int|edu|gov|org|info|mil)|(https?:\/\/)((\d{1,3}(\.\d{1,3}){3})|(\[([\da-f]{0,4}:){2}([\da-f]{0,4}:?){1,6}\])))(?::\d{1,5})?(?:[/?#]\S*)?$/iu;
const mailAddress = /^\S+@[\p{L}\p{N}_][\p{L}\p{N}_.-]*\.[\p{L}\p{N}_]+$/u;
const blanks = new RegExp(`([${spaceClass}]+)`);

interface LinkOptions {
  readonly attributes: string;
  readonly limit: number | undefined;
  readonly schemes: readonly string[];
}

function link(middle: string, { attributes, limit, schemes }: LinkOptions): string {
  const short = limit !== undefined && pyLength(middle) > limit ? `${pySlice(middle, 0, limit)}...` : middle;
  if (webAddress.test(middle)) {
    const href = /^https?:\/\//.test(middle) ? middle : `https://${middle}`;
    return `<a href="${href}"${attributes}>${short}</a>`;
  }
  if (middle.startsWith('mailto:') && mailAddress.test(middle.slice(7)))
    return `<a href="${middle}">${middle.slice(7)}</a>`;
  if (
    middle.includes('@') &&
    !middle.startsWith('www.') &&
    !middle.startsWith('@') &&
    !middle.includes(':') &&
    mailAddress.test(middle)
  ) {
    return `<a href="mailto:${middle}">${middle}</a>`;
  }
  let out = middle;
  for (const scheme of schemes) {
    if (out !== scheme && out.startsWith(scheme)) out = `<a href="${out}"${attributes}>${out}</a>`;
  }
  return out;
}

const count = (text: string, part: string): number => text.split(part).length - 1;

/** Links one word, without brackets and punctuation around it. */
function linkWord(word: string, options: LinkOptions): string {
  const head = /^(?:[(<]|&lt;)+/.exec(word)?.[0] ?? '';
  let middle = word.slice(head.length);
  let tail = '';
  if (/(?:[)>.,\n]|&gt;)$/.test(middle)) {
    tail = /(?:[)>.,\n]|&gt;)+$/.exec(middle)?.[0] ?? '';
    middle = middle.slice(0, middle.length - tail.length);
  }
  for (const [open, close] of [
    ['(', ')'],
    ['<', '>'],
    ['&lt;', '&gt;'],
  ] as const) {
    const opened = count(middle, open);
    if (opened <= count(middle, close)) continue;
    for (let moves = Math.min(opened, count(tail, close)); moves > 0; moves -= 1) {
      const end = tail.indexOf(close) + close.length;
      middle += tail.slice(0, end);
      tail = tail.slice(end);
    }
  }
  return head + link(middle, options) + tail;
}

function urlize(rt: Runtime, values: PyValue[]): PyValue {
  const [value, limit, nofollow, target, rel, schemes] = values as [
    PyValue,
    PyValue,
    PyValue,
    PyValue,
    PyValue,
    PyValue,
  ];
  const parts = new Set(
    rel === null
      ? []
      : str(rel)
          .split(/\s+/)
          .filter((part) => part !== ''),
  );
  if (truth(nofollow)) parts.add('nofollow');
  parts.add('noopener');
  const extra = schemes === null ? [] : toArray(schemes).map(str);
  for (const scheme of extra) {
    if (!/^[\p{L}\p{N}_.+-]{2,}:\/{0,2}$/u.test(scheme))
      throw filterArgumentError(`${repr(scheme)} is not a valid URI scheme prefix.`);
  }
  const relText = ` rel="${escapeHtml([...parts].sort().join(' '))}"`;
  const targetText = target === null || str(target) === '' ? '' : ` target="${escapeHtml(str(target))}"`;
  const options = {
    attributes: relText + targetText,
    limit: limit === null ? undefined : intOf(limit),
    schemes: extra,
  };
  const text = toMarkupText(value)
    .text.split(blanks)
    .map((word) => linkWord(word, options))
    .join('');
  return rt.frame?.context.autoescape === true ? new Markup(text) : text;
}

export const webFilters: FunctionTable = tableOf({
  urlencode: define('do_urlencode', 'value', (_rt, value) => urlencode(value!)),
  urlize: define(
    'do_urlize',
    'value, trim_url_limit=None, nofollow=False, target=None, rel=None, extra_schemes=None',
    (rt, ...values) => urlize(rt, values),
    { implicit: 1 },
  ),
});
