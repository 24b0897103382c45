// The command that starts the same job.
import { dumpJson } from '../../base/codec/json/index.ts';
import { pyStr } from '../../base/codec/python/index.ts';
import { dictEntries, dictGet, isDict, type Value } from '../../base/codec/value.ts';
import { funName, type PublishedJob } from '../../protocol/job/job.ts';

const letters: Readonly<Record<string, string>> = {
  glob: '',
  pcre: '-E ',
  list: '-L ',
  grain: '-G ',
  grain_pcre: '-P ',
  pillar: '-I ',
  pillar_pcre: '-J ',
  nodegroup: '-N ',
  range: '-R ',
  compound: '-C ',
  ipcidr: '-S ',
};

const longest = 10_000;

/** Quoted for a shell. */
const quoted = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

const word = (value: Value): string =>
  quoted(
    typeof value === 'string' ? value : typeof value === 'object' && value !== null ? dumpJson(value) : pyStr(value),
  );

export function commandOf({ fun, arg, tgt, tgt_type }: PublishedJob): string {
  const name = funName(fun);
  // No command runs wheel functions by their name.
  if (name.startsWith('wheel.')) return '';
  const start = name.startsWith('runner.') ? `salt-run ${name.slice('runner.'.length)}` : undefined;
  const target = `salt ${letters[tgt_type] ?? ''}${quoted(typeof tgt === 'string' ? tgt : tgt.join(','))}`;
  const words = typeof fun === 'string' ? arg.flatMap(wordsOf) : [];
  const line = [start ?? `${target} ${name}`, ...words].join(' ');
  return line.length > longest ? `${line.slice(0, longest)}…` : line;
}

function wordsOf(value: Value): string[] {
  if (!isDict(value) || dictGet(value, '__kwarg__') !== true) return [word(value)];
  return dictEntries(value)
    .filter(([name]) => name !== '__kwarg__')
    .map(([name, item]) => `${pyStr(name)}=${word(item)}`);
}
