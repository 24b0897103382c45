// Reading what `iptables-save` prints.
import { newDict, type PlainDict, type Value } from 'halite/sdk';
import { lines, shellSplit, words } from 'halite/sdk/text';

const longNames: Readonly<Record<string, string>> = {
  '-A': 'append',
  '-p': 'protocol',
  '-s': 'source',
  '-d': 'destination',
  '-j': 'jump',
  '-g': 'goto',
  '-i': 'in-interface',
  '-o': 'out-interface',
  '-f': 'fragment',
  '-c': 'set-counters',
  '-m': 'match',
};

/** The options of a rule, each with the values it was given; `! --dport 22` has the value `! 22`. */
function parseRule(line: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  let key = '';
  let values: string[] = [];
  let negated = false;
  const close = (): void => {
    if (key) found.set(key, [...(found.get(key) ?? []), values.join(' ')]);
  };
  for (const word of shellSplit(line)) {
    if (word === '!') {
      negated = true;
    } else if (word.startsWith('-') && word.length > 1) {
      close();
      key = longNames[word] ?? word.replace(/^-+/, '');
      values = negated ? ['!'] : [];
      negated = false;
    } else {
      if (negated) values.push('!');
      negated = false;
      values.push(word);
    }
  }
  close();
  return found;
}

/** Tables → chains → policy, counters and rules. */
export function parseSaved(text: string): PlainDict {
  const tables = newDict();
  let table = newDict();
  for (const line of lines(text)) {
    if (line.startsWith('*')) {
      table = newDict();
      tables[line.slice(1)] = table;
    } else if (line.startsWith(':')) {
      const [name = '', policy = '', counters = '[0:0]'] = words(line.slice(1));
      const [packets = '0', bytes = '0'] = counters.replace(/[[\]]/g, '').split(':');
      table[name] = newDict(
        Object.entries({
          policy,
          'packet count': packets,
          'byte count': bytes,
          rules: [] as Value[],
          rules_comment: newDict(),
        }),
      );
    } else if (line.startsWith('-A')) {
      const options = parseRule(line);
      const chain = table[options.get('append')?.[0] ?? ''] as PlainDict | undefined;
      options.delete('append');
      const rule = newDict([...options]);
      const comment = options.get('comment')?.[0]?.replace(/^"+|"+$/g, '');
      if (comment !== undefined && chain) (chain['rules_comment'] as PlainDict)[comment] = rule;
      (chain?.['rules'] as Value[] | undefined)?.push(rule);
    }
  }
  return tables;
}
