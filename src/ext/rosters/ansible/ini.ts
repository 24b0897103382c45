// The INI form of an inventory.
import { HaliteError, newDict, type PlainDict, type Value } from 'halite/sdk';
import { loadYaml } from 'halite/sdk/codec';
import { shellSplit } from 'halite/sdk/text';
import { Inventory } from './inventory.ts';

const mostNames = 65_536;

/** `web[01:03].example.com` and `db-[a:c]`. */
function expand(name: string): string[] {
  const [, before = '', first = '', last = '', after = ''] = /^(.*?)\[(\w+):(\w+)\](.*)$/.exec(name) ?? [];
  if (first === '') return [name];
  const numeric = /^\d+$/.test(first) && /^\d+$/.test(last);
  const code = (text: string): number => (numeric ? Number(text) : text.charCodeAt(0));
  const [from, to] = [code(first), code(last)];
  const ends = expand(after);
  if ((to - from + 1) * ends.length > mostNames)
    throw new HaliteError('target.cost', `${name.slice(0, 200)} stands for too many hosts`);
  const made: string[] = [];
  for (let at = from; at <= to; at++)
    made.push(`${before}${numeric ? String(at).padStart(first.length, '0') : String.fromCharCode(at)}`);
  return made.flatMap((start) => ends.map((end) => `${start}${end}`));
}

const parsed = (text: string): Value => {
  try {
    return loadYaml(text);
  } catch {
    return text;
  }
};

function variablesIn(words: readonly string[]): PlainDict {
  const pairs = words.flatMap((word): [string, Value][] => {
    const at = word.indexOf('=');
    return at > 0 ? [[word.slice(0, at), parsed(word.slice(at + 1))]] : [];
  });
  return newDict(pairs);
}

export function readIni(file: string, text: string): Inventory {
  const inventory = new Inventory();
  let group = 'ungrouped';
  let part = 'hosts';
  for (const [at, raw] of text.split('\n').entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#') || line.startsWith(';')) continue;
    const [, name, kind = 'hosts'] = /^\[([^\]:]+)(?::(\w+))?\]/.exec(line) ?? [];
    if (name !== undefined) {
      [group, part] = [name, kind];
      if (!['hosts', 'children', 'vars'].includes(part))
        throw new HaliteError('config.syntax', `${file}: line ${at + 1}: [${name}:${part}] is not known`);
      inventory.group(group);
    } else if (part === 'children') inventory.group(group).children.add(line.split(/\s/, 1)[0] ?? line);
    else if (part === 'vars') {
      const equals = line.indexOf('=');
      if (equals > 0)
        inventory.group(group).variables[line.slice(0, equals).trim()] = parsed(line.slice(equals + 1).trim());
    } else {
      const [pattern = '', ...words] = shellSplit(line.replace(/\s#.*$/, ''));
      for (const host of expand(pattern)) inventory.addHost(group, host, variablesIn(words));
    }
  }
  return inventory;
}
