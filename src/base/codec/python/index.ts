// Values as Python prints them.
export { compareText } from './compare-text.ts';
export { type PprintOptions, pprintValue } from './pprint.ts';
export { pyRepr, pyStr, reprFloat, reprKey } from './repr.ts';
