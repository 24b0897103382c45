// The events that a subscriber receives, with the match types of Salt's `event_match_type`.
import { type BoundedRegex, boundedRegex, CostError, globMatcher } from '../../base/util/index.ts';

export const matchTypes = ['startswith', 'endswith', 'find', 'regex', 'fnmatch'] as const;
export type MatchType = (typeof matchTypes)[number];

export interface EventFilter {
  /** Empty or absent: every event. */
  readonly tag?: string;
  /** Default `startswith`. */
  readonly match?: MatchType;
}

/**
 * The test for tags, or undefined when all match. Throws HaliteError codec.malformed for an invalid regular expression.
 */
export function tagTest(filter: EventFilter): ((tag: string) => boolean) | undefined {
  const wanted = filter.tag ?? '';
  if (wanted === '') return undefined;
  switch (filter.match ?? 'startswith') {
    case 'startswith':
      return (tag) => tag.startsWith(wanted);
    case 'endswith':
      return (tag) => tag.endsWith(wanted);
    case 'find':
      return (tag) => tag.includes(wanted);
    case 'fnmatch':
      return globMatcher(wanted);
    case 'regex': {
      const expression = boundedRegex(wanted, 'search');
      return (tag) => isFound(expression, tag);
    }
  }
}

/** Minions choose tags: a tag on which a subscriber's expression exceeds its budget does not match. */
function isFound(expression: BoundedRegex, tag: string): boolean {
  try {
    return expression.test(tag);
  } catch (error) {
    if (error instanceof CostError) return false;
    throw error;
  }
}
