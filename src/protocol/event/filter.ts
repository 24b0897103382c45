// Which events a subscriber wants, with the match types of Salt's `event_match_type`.
import { globMatcher, pyRegexSearch } from '../../base/util/index.ts';

export const matchTypes = ['startswith', 'endswith', 'find', 'regex', 'fnmatch'] as const;
export type MatchType = (typeof matchTypes)[number];

export interface EventFilter {
  /** Empty or absent: every event. */
  readonly tag?: string;
  /** Default `startswith`. */
  readonly match?: MatchType;
}

/** The test for tags, or undefined when all pass. Throws HaliteError codec.malformed for a wrong regular expression. */
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
      const expression = pyRegexSearch(wanted);
      return (tag) => expression.test(tag);
    }
  }
}
