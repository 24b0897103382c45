// Slots: arguments of the form `__slot__:salt:mod.fun(arg, key=value).path ~ text`, evaluated directly before the call.
import { type Dict, dictEntries, isDict, newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import { traverse } from '../../../base/util/index.ts';
import type { ModuleContext } from '../../../extend/sdk/index.ts';
import { setKey } from '../data.ts';

const mark = '__slot__:';
const isSlot = (value: Value): value is string => typeof value === 'string' && value.startsWith(mark);

export interface CallArguments {
  readonly args: readonly Value[];
  readonly kwargs: PlainDict;
}

/** Whether there is anything to do; most states have no slot. */
function hasSlots(value: Value, depth = 0): boolean {
  if (typeof value === 'string') return value.startsWith(mark);
  if (depth > 2 || value === null || typeof value !== 'object') return false;
  if (Array.isArray(value)) return value.some((item) => hasSlots(item, depth + 1));
  return isDict(value) && dictEntries(value).some(([, item]) => hasSlots(item, depth + 1));
}

/** Arguments with evaluated slots: texts, values of dicts, and both inside lists; no deeper, as in Salt. */
export async function fillSlots(call: CallArguments, context: ModuleContext): Promise<CallArguments> {
  if (!call.args.some((item) => hasSlots(item)) && !Object.values(call.kwargs).some((item) => hasSlots(item)))
    return call;
  const args: Value[] = [];
  for (const arg of call.args) args.push(await fill(arg, context));
  const kwargs = newDict();
  for (const [key, value] of Object.entries(call.kwargs)) kwargs[key] = await fill(value, context);
  return { args, kwargs };
}

async function fill(value: Value, context: ModuleContext): Promise<Value> {
  if (isSlot(value)) return evaluate(value, context);
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) {
      if (isSlot(item)) value[at] = await evaluate(item, context);
      else if (isDict(item)) await fillDict(item, context);
    }
  } else if (isDict(value)) await fillDict(value, context);
  return value;
}

async function fillDict(dict: Dict, context: ModuleContext): Promise<void> {
  for (const [key, value] of dictEntries(dict)) if (isSlot(value)) setKey(dict, key, await evaluate(value, context));
}

async function evaluate(slot: string, context: ModuleContext): Promise<Value> {
  const text = slot.slice(mark.length);
  const colon = text.indexOf(':');
  const call = colon < 0 || text.slice(0, colon) !== 'salt' ? undefined : parseCall(text.slice(colon + 1));
  if (!call || !(await context.registry.functionInfo('modules', call.fun))) {
    context.log.warn(`Malformed slot: ${slot}`);
    return slot;
  }
  const result = await context.callWith(call.fun, call.args, call.kwargs);
  return finish(result, text.slice(colon + 1), context);
}

/** The part after the call: a path into its result, and text to append. */
async function finish(result: Value, source: string, context: ModuleContext): Promise<Value> {
  const tilde = source.indexOf('~');
  const head = tilde < 0 ? source : source.slice(0, tilde);
  const after = head.slice(head.lastIndexOf(')') + 1);
  let value = result;
  if (after.trim() !== '' && head.includes(')')) {
    const dot = after.indexOf('.');
    if (dot < 0) throw new HaliteError('call.arguments', `A slot's path begins with a dot: ${source}`);
    value = traverse(result, after.slice(dot + 1).trim(), '.') ?? null;
  }
  if (tilde < 0) return value;
  if (typeof value === 'string') return value + source.slice(tilde + 1).trim();
  context.log.error('Ignoring slot append, slot result is not a string');
  return value;
}

export interface ParsedCall {
  readonly fun: string;
  readonly args: string[];
  readonly kwargs: PlainDict;
}

const closing: Readonly<Record<string, string>> = { '[': ']', '{': '}', '(': ')' };

/** `mod.fun(arg, key=value)`: quotes group, brackets nest, values stay text. */
function parseCall(text: string): ParsedCall | undefined {
  const tokens = tokenize(text);
  const open = tokens.findIndex((token) => token.text === '(' && !token.quoted);
  if (open <= 0) return undefined;
  const fun = tokens
    .slice(0, open)
    .map((token) => token.text)
    .join('');
  const args: string[] = [];
  const kwargs = newDict();
  const brackets: string[] = [];
  let word: string[] = [];
  let key: string | undefined;
  for (const { text: token, quoted } of tokens.slice(open + 1)) {
    const special = quoted ? '' : token;
    if (special !== '' && '[{('.includes(special)) {
      brackets.push(special);
      word.push(token);
    } else if ((special === ',' || special === ')') && brackets.length === 0) {
      if (key) kwargs[key] = word.join('');
      else if (word.length > 0) args.push(word.join(''));
      if (special === ')') return { fun, args, kwargs };
      key = undefined;
      word = [];
    } else if (special !== '' && ']})'.includes(special)) {
      const opened = brackets.pop();
      if (opened === undefined || closing[opened] !== special) return undefined;
      word.push(token);
    } else if (special === '=' && brackets.length === 0) {
      key = word.join('');
      word = [];
    } else word.push(token);
  }
  return undefined;
}

interface Token {
  readonly text: string;
  readonly quoted: boolean;
}

/** Words, quoted texts and single signs, as Python's shlex splits them; white space and comments are dropped. */
function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const char = text[at]!;
    if (/\s/.test(char)) at++;
    else if (char === '#') {
      const end = text.indexOf('\n', at);
      at = end < 0 ? text.length : end;
    } else if (/[\p{L}\p{N}_"'\\]/u.test(char)) {
      const word = readWord(text, at);
      tokens.push({ text: word.text, quoted: word.quoted });
      at = word.end;
    } else {
      tokens.push({ text: char, quoted: false });
      at++;
    }
  }
  return tokens;
}

/** A run of word characters and quoted parts; inside quotes a backslash escapes. */
function readWord(text: string, start: number): Token & { end: number } {
  let word = '';
  let quoted = false;
  let at = start;
  while (at < text.length) {
    const char = text[at]!;
    if (char === '"' || char === "'") {
      quoted = true;
      for (at++; at < text.length && text[at] !== char; at++) {
        if (text[at] === '\\' && (text[at + 1] === char || text[at + 1] === '\\')) at++;
        word += text[at];
      }
      at++;
    } else if (char === '\\') {
      word += text[at + 1] ?? '';
      at += 2;
    } else if (/[\p{L}\p{N}_]/u.test(char)) {
      word += char;
      at++;
    } else break;
  }
  return { text: word, quoted, end: at };
}
