// Values as Python prints them.
export { pprintValue } from './pprint.ts';
export { pyRepr, pyStr, reprFloat, reprKey } from './repr.ts';
export { isTrue, isTruthy } from './truth.ts';
export { pyTypeName } from './type-name.ts';
