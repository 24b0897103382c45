// The result of a state in a form that can be compared with a recording.
import type { Value } from '../base/codec/value.ts';
import type { StateResult } from '../extend/sdk/index.ts';

/**
 * Values that differ between runs: process ids, names of temporary files, and the order in which Salt iterates over
 * sets.
 */
function steady(text: string): string {
  const named = text
    .replace(/\/tmp\/(?:__salt\.tmp\.\w+|halite-patch-\w+\/output)/g, '{temporary}')
    .replace(/(pid:\s+)\d+/g, '$1{pid}');
  if (!named.startsWith('#### ')) return named;
  const sections = named.split(/\n+(?=#### )/).map((section) => section.trim());
  return sections
    .map((section) => (section.startsWith('#### removed') ? section.split('\n').sort().join('\n') : section))
    .sort()
    .join('\n');
}

/** Plain objects; lists whose order is random in Salt are sorted. */
export function comparable(value: unknown): unknown {
  if (typeof value === 'string') return steady(value);
  if (value instanceof Map) return comparable(Object.fromEntries(value));
  if (Array.isArray(value)) return value.map(comparable);
  if (value === null || typeof value !== 'object' || value instanceof Date) return value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1');
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([key, item]) => [
        key,
        key === 'removed' && Array.isArray(item) ? [...item].sort() : key === 'pid' ? 0 : comparable(item),
      ]),
  );
}

const exception =
  /^An exception occurred in this state: Traceback[^\n]*\n(?: {2}[^\n]*\n)*(?:salt\.exceptions\.)?([\s\S]*?)\n?$/;

/**
 * The fields that a case expects. The engine's result for a state that threw becomes `raised`, as recorders write it.
 */
export function outcome({ result, comment, changes, warnings }: StateResult): unknown {
  const raised = typeof comment === 'string' ? exception.exec(comment)?.[1] : undefined;
  if (raised !== undefined) return comparable({ raised, warnings });
  return comparable({ result, comment, changes, warnings });
}

/** An expectation in the engine's form: comments are one text, as in every state result. */
export function expectation(expected: Value): unknown {
  const plain = comparable(expected) as Record<string, unknown>;
  const { comment } = plain;
  return Array.isArray(comment) ? { ...plain, comment: comment.join('\n') } : plain;
}
