// Where a pillar value comes from: file and line of its source, and of overridden ones.
import { readFile } from 'node:fs/promises';
import { dictOf, isDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { loadYamlWithPositions } from '../../base/codec/yaml/index.ts';
import { traverse } from '../../base/util/index.ts';
import type { PillarSource } from './compilation.ts';
import { compilePillar } from './compile.ts';
import { sourceLine } from './source-line.ts';
import type { PillarHost, PillarRequest } from './types.ts';

/** Compiles the pillar and explains one key: its value, its source, and other sources that have it. */
export async function explainPillar(
  host: PillarHost,
  opts: Readonly<Record<string, Value>>,
  request: PillarRequest,
  key: string,
  delimiter: string,
): Promise<Value> {
  const sources: PillarSource[] = [];
  const pillar = await compilePillar(host, opts, request, { watch: (source) => sources.push(source) });
  const path = delimiter === '' ? [key] : key.split(delimiter);
  const value = traverse(pillar, path);
  const places: Value[] = [];
  for (const source of [...overrideOf(request), ...sources.reverse()]) {
    const place = await placeIn(source, path);
    if (place) places.push(dictOf(Object.entries(place)));
  }
  const [first = null, ...others] = places;
  const told: [Value, Value][] = [
    ['key', key],
    ['found', value !== undefined],
  ];
  if (value !== undefined) told.push(['value', value], ['given_by', first]);
  // Maps are merged: each of these sources contributed. For any other value the first one counts.
  if (others.length > 0) told.push([value !== undefined && isDict(value) ? 'merged_with' : 'overrides', others]);
  if (value === undefined) told.push(['looked_in', sources.map((source) => source.path ?? source.name)]);
  const errors = traverse(pillar, '_errors');
  if (errors !== undefined) told.push(['errors', errors]);
  return dictOf(told);
}

function overrideOf({ override }: PillarRequest): PillarSource[] {
  return override !== undefined && isDict(override) ? [{ name: 'pillar= of the command', data: override }] : [];
}

/** The value of a source at a path; undefined when it has none. */
async function placeIn(source: PillarSource, path: readonly string[]): Promise<PlainDict | undefined> {
  const { under = [] } = source;
  const inside = path.slice(0, under.length).join('\0') === under.slice(0, path.length).join('\0');
  const own = path.slice(under.length);
  const value = inside ? (own.length === 0 ? source.data : traverse(source.data, own)) : undefined;
  if (value === undefined) return undefined;
  const place: PlainDict = { source: source.name };
  if (source.saltenv !== undefined) place['saltenv'] = source.saltenv;
  if (source.path !== undefined) place['file'] = source.path;
  Object.assign(place, await lineOf(source, own));
  if (source.includedBy !== undefined) place['included_by'] = source.includedBy;
  if (!isDict(value)) place['value'] = value;
  return place;
}

async function lineOf(source: PillarSource, path: readonly string[]): Promise<PlainDict> {
  if (source.path === undefined || source.yaml === undefined || path.length === 0) return {};
  const text = await readFile(source.path, 'utf8').catch(() => undefined);
  const line = yamlLine(source.yaml, path);
  if (text === undefined || line === undefined) return {};
  const own = sourceLine(text, source.yaml, line);
  if (own === undefined) return { rendered_line: line };
  return { line: own, text: (text.split('\n')[own - 1] ?? '').trim() };
}

/** The line of a key in the YAML text; numeric keys are found by their text, as in `pillar.get`. */
function yamlLine(yaml: string, path: readonly string[]): number | undefined {
  const { value, positions } = loadYamlWithPositions(yaml);
  let line: number | undefined;
  let at: Value = value;
  for (const step of path) {
    if (isDict(at)) {
      const found: Value | undefined = traverse(at, [step]);
      const key = [...(at instanceof Map ? at.keys() : Object.keys(at))].find((name) => String(name) === step);
      if (found === undefined || key === undefined) return line;
      line = positions.lineIn(at, key) ?? line;
      at = found;
    } else if (Array.isArray(at)) {
      const index = Number(step);
      line = positions.lineIn(at, index) ?? line;
      const found: Value | undefined = at[index];
      if (found === undefined) return line;
      at = found;
    } else return line;
  }
  return line;
}
