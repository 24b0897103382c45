// Checks that high data has the right form; every error is a message for the author of the SLS.
import { pyStr } from '../../../base/codec/python/index.ts';
import { type Dict, dictSize, isDict, type Value } from '../../../base/codec/value.ts';
import { firstKey, firstValue, type High, isBody, isHidden, shown, typeName } from '../data.ts';

/** Requisites whose form is checked here; others may have any form that the runtime accepts. */
const checkedRequisites: ReadonlySet<Value> = new Set(['require', 'watch', 'prereq', 'onchanges']);

/** Everything that is wrong, in the order it was found. */
export function verifyHigh(high: High): string[] {
  const errors: string[] = [];
  const links: Links = new Map();
  for (const [id, body] of high) {
    if (isHidden(id)) continue;
    if (typeof id !== 'string') {
      const sls = isBody(body) ? pyStr(body.get('__sls__')) : '';
      errors.push(
        `ID '${shown(id)}' in SLS '${sls}' is not formed as a string, but is a ${typeName(id)}. It may need to be quoted.`,
      );
    }
    if (!isBody(body)) {
      errors.push(`The type ${shown(id)} in ${shown(body)} is not formatted as a dictionary`);
      continue;
    }
    const sls = pyStr(body.get('__sls__'));
    for (const [state, args] of body) if (!isHidden(state)) verifyState({ id, sls, links, errors }, pyStr(state), args);
  }
  return errors;
}

/** id → (state of its last requisite list, and id required → state required): enough to see two ids require each other. */
type Links = Map<Value, Map<Value, Value>>;

interface Place {
  readonly id: Value;
  readonly sls: string;
  readonly links: Links;
  readonly errors: string[];
}

function verifyState(place: Place, state: string, args: Value): void {
  const { errors, sls } = place;
  const id = pyStr(place.id);
  if (args === null) {
    errors.push(
      `ID '${id}' in SLS '${sls}' contains a short declaration (${state}) with a trailing colon. ` +
        'When not passing any arguments to a state, the colon must be omitted.',
    );
    return;
  }
  if (!Array.isArray(args)) {
    errors.push(`State '${id}' in SLS '${sls}' is not formed as a list`);
    return;
  }
  const functions = state.includes('.') ? [state.slice(state.indexOf('.') + 1)] : [];
  for (const arg of args) {
    if (typeof arg === 'string') {
      functions.push(arg);
      if (arg.trim().includes(' ')) errors.push(whitespace(arg, id, sls));
    } else if (isDict(arg)) verifyArgument(place, state, arg);
  }
  if (functions.length === 0 && state !== 'require' && state !== 'watch') {
    errors.push(`No function declared in state '${id}' in SLS '${sls}'`);
  } else if (functions.length > 1) {
    errors.push(
      `Too many functions declared in state '${id}' in SLS '${sls}'. ` +
        `Please choose one of the following: ${functions.join(', ')}`,
    );
  }
}

function whitespace(fun: string, id: string, sls: string): string {
  return (
    `The function "${fun}" in state "${id}" in SLS "${sls}" has whitespace, a function with whitespace is ` +
    'not supported, perhaps this is an argument that is missing a ":"'
  );
}

function verifyArgument(place: Place, state: string, arg: Dict): void {
  const { errors, sls } = place;
  const id = pyStr(place.id);
  const key = firstKey(arg);
  const value = firstValue(arg);
  if (key === 'names' && !Array.isArray(value)) {
    errors.push(`The 'names' argument in state '${id}' in SLS '${sls}' needs to be formed as a list`);
  }
  if (key === undefined || !checkedRequisites.has(key)) return;
  if (Array.isArray(value)) verifyRequisites(place, state, value);
  else errors.push(`The ${pyStr(key)} statement in state '${id}' in SLS '${sls}' needs to be formed as a list`);
  if (dictSize(arg) !== 1) {
    errors.push(`Multiple dictionaries defined in argument of state '${id}' in SLS '${sls}'`);
  }
}

function verifyRequisites({ id, sls, links, errors }: Place, state: string, list: readonly Value[]): void {
  // As in Salt: a second list of the same id replaces what was recorded of the first.
  const own = new Map<Value, Value>([['state', state]]);
  links.set(id, own);
  for (const item of list) {
    if (typeof item !== 'string' && !isDict(item)) {
      errors.push(`Requisite declaration ${shown(item)} in SLS ${sls} is not formed as a single key dictionary`);
      continue;
    }
    const key = typeof item === 'string' ? 'id' : pyStr(firstKey(item));
    const value = typeof item === 'string' ? item : (firstValue(item) ?? null);
    if (key.includes('.')) {
      errors.push(
        `Invalid requisite type '${key}' in state '${pyStr(id)}', in SLS '${sls}'. ` +
          `Requisite types must not contain dots, did you mean '${key.slice(0, key.indexOf('.'))}'?`,
      );
    }
    // Python: neither can be looked up in a dict.
    if (Array.isArray(value) || isDict(value)) {
      errors.push(`Illegal requisite "${shown(value)}", please check your syntax.\n`);
      continue;
    }
    own.set(value, key);
    const other = links.get(value);
    if (other && other.get(id) === state && other.get('state') === key) {
      errors.push(`A recursive requisite was found, SLS "${sls}" ID "${pyStr(id)}" ID "${pyStr(value)}"`);
    }
  }
}
