// The reader of `halite migrate check`, for the survey: names without lines.
import { bundled } from '../load-builtin.mjs';

const reader = await bundled('src/cli/halite/migrate/check/sls-reader.ts');
const plain = (found) => found.map(({ name }) => name);

export function declarations(text, isState) {
  const { found, unresolved } = reader.declarations(text, isState);
  return { found, unresolved: unresolved.length };
}
export const namedByStates = (found, isFunction) => plain(reader.namedByStates(found, isFunction));
export const namedByConditions = (text, isFunction) => plain(reader.namedByConditions(text, isFunction));
export const calledFromJinja = (text, isFunction) => plain(reader.calledFromJinja(text, isFunction));
export function pythonSls(text, isState, isFunction) {
  const { states, modules } = reader.pythonSls(text, isState, isFunction);
  return { states: plain(states), modules: plain(modules) };
}
