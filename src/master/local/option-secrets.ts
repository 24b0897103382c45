// The options of the master contain passwords of other systems, which users of external authentication do not get.
import { readValue } from '../../base/codec/json/index.ts';
import { dictEntries, dictOf, isDict, type Value } from '../../base/codec/value.ts';
import { isSecretName, redactText, secretMask } from '../../base/log/redact.ts';
import type { FunctionResult, MasterKind } from './functions.ts';

export function withoutSecrets(
  kind: MasterKind,
  fun: string,
  args: readonly Value[],
  result: FunctionResult,
): FunctionResult {
  if (kind === 'wheel' && fun === 'config.values') return { ...result, ret: masked(readValue(result.ret)) };
  if (kind !== 'runners' || fun !== 'config.get') return result;
  const secret = args.some((name) => typeof name === 'string' && name.split(/[^\w.-]/).some(isSecret));
  return { ...result, ret: secret ? secretMask : masked(readValue(result.ret)) };
}

const isSecret = (name: string): boolean => isSecretName(name) || /pw$/i.test(name);

/** A copy without passwords, keys and other secrets. */
export function masked(value: Value): Value {
  if (typeof value === 'string') return redactText(value);
  if (Array.isArray(value)) return value.map(masked);
  if (!isDict(value)) return value;
  return dictOf(
    dictEntries(value).map(([key, item]) => {
      const hide = typeof key === 'string' && isSecret(key) && item !== null && item !== '' && !isDict(item);
      return [key, hide ? secretMask : masked(item)];
    }),
  );
}
