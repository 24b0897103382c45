// Merges several package states into one call of the package manager (`aggregate: true`).
import { type LowChunk, newDict, type PlainDict, pyEquals, type Value } from 'halite/sdk';

const joinable = ['installed', 'latest', 'removed', 'purged'];

/** The tag of a chunk's result. */
const tagOf = (chunk: Readonly<LowChunk>): string =>
  `${chunk['state']}_|-${chunk['__id__']}_|-${chunk['name']}_|-${chunk['fun']}`;
const list = (value: Value | undefined): Value[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];

interface Joined {
  readonly kind: 'pkgs' | 'sources';
  readonly items: Value[];
}

/** Adds the packages of one chunk; the chunk is marked so that no other state adds them too. */
function take(chunk: LowChunk, joined: Joined): void {
  if ('sources' in chunk) {
    if (joined.kind !== 'sources') return;
    joined.items.push(...list(chunk['sources']));
    chunk['__agg__'] = true;
    return;
  }
  if ('hold' in chunk) return;
  if (joined.kind !== 'pkgs') return;
  if ('pkgs' in chunk) joined.items.push(...list(chunk['pkgs']));
  else if (chunk['name'] !== undefined) {
    const { version } = chunk;
    delete chunk['version'];
    joined.items.push(
      version === undefined || version === null ? chunk['name'] : newDict([[String(chunk['name']), version]]),
    );
  } else return;
  chunk['__agg__'] = true;
}

export function aggregate(
  low: LowChunk,
  chunks: readonly Readonly<LowChunk>[],
  running: Readonly<Record<string, PlainDict>>,
): LowChunk {
  if (!joinable.includes(String(low['fun'])) || 'hold' in low) return low;
  const joined: Joined = { kind: 'sources' in low ? 'sources' : 'pkgs', items: [] };
  for (const chunk of chunks as readonly LowChunk[]) {
    if (
      chunk === low ||
      tagOf(chunk) in running ||
      chunk['state'] !== 'pkg' ||
      '__agg__' in chunk ||
      chunk['fun'] !== low['fun']
    )
      continue;
    if (pyEquals(chunk['fromrepo'] ?? null, low['fromrepo'] ?? null)) take(chunk, joined);
  }
  if (joined.items.length === 0) return low;
  const { version, ...rest } = low;
  // Salt forgets the first state's own package when it is given by its name alone.
  const alone: Value[] =
    version === undefined || version === null ? [low['name'] ?? ''] : [newDict([[String(low['name']), version]])];
  const merged = [...(joined.kind in low ? list(low[joined.kind]) : alone), ...joined.items];
  const items = merged.filter((item, at) => merged.findIndex((other) => pyEquals(other, item)) === at);
  return newDict([...Object.entries(rest), [joined.kind, items]]);
}
