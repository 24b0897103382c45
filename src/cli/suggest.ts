// A hint for mistyped function names, on stderr: stdout contains only Salt's own message.
import { newDict, type Value } from '../base/codec/value.ts';
import type { FunctionKind } from '../extend/loader/index.ts';

/** The end of Salt's message about a function that does not exist. */
export const notThere = ' is not available.';

/** `Did you mean 'test.ping'?` when the answer says that there is no such function and a similar name exists. */
export async function suggestionFor(
  kind: FunctionKind,
  answer: unknown,
  opts: Readonly<Record<string, Value>>,
): Promise<string> {
  const fun = typeof answer === 'string' ? /^'([^'\s]+)' is not available\.$/.exec(answer.trim())?.[1] : undefined;
  if (fun === undefined) return '';
  const [{ Loader }, { nullLogger }] = await Promise.all([
    import('../extend/loader/index.ts'),
    import('../base/log/null-logger.ts'),
  ]);
  const loader = new Loader({ opts: () => opts, grains: () => newDict(), log: nullLogger(), userCode: 'names' });
  const near = await loader.nearestName(kind, fun);
  return near === undefined ? '' : `Did you mean '${near}'?\n`;
}
