// The block of options of the API in the master's configuration: `halite_api`, or one of Salt's two names.
import { type Dict, isDict, type PlainDict } from '../codec/value.ts';

const names = ['halite_api', 'rest_cherrypy', 'rest_tornado'] as const;

export interface RestBlock {
  readonly name: (typeof names)[number];
  readonly options: Dict;
}

/** The first of the blocks that is given; undefined when there is none. */
export function restBlock(raw: PlainDict): RestBlock | undefined {
  for (const name of names) {
    const options = raw[name];
    if (isDict(options)) return { name, options };
  }
  return undefined;
}
