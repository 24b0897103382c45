// Data as indented text, the way Salt attaches details to an error message.
import { dictEntries, isDict, pyStr, type Value } from 'halite/sdk';
import { compareText } from 'halite/sdk/codec';

function render(value: Value, depth: number): string[] {
  const pad = ' '.repeat(depth);
  if (isDict(value)) {
    const sorted = dictEntries(value).sort(([a], [b]) => compareText(pyStr(a), pyStr(b)));
    const rows = sorted.flatMap(([key, item]) => [`${pad}${pyStr(key)}:`, ...render(item, depth + 4)]);
    return depth === 0 ? rows : [`${pad}----------`, ...rows];
  }
  if (Array.isArray(value)) {
    return value.flatMap((item) => {
      const [first = '', ...rest] = render(item, depth + 2);
      return [`${pad}- ${first.trimStart()}`, ...rest];
    });
  }
  return pyStr(value)
    .split('\n')
    .map((line) => `${pad}${line}`);
}

export const nestedText = (value: Value): string => render(value, 0).join('\n');
