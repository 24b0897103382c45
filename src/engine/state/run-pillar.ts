// The pillar of a state run: compiled again, with the caller's values applied over it.
import { isTruthy, pyStr } from '../../base/codec/python/index.ts';
import { type Dict, dictGet, isDict, newDict, oneOrMore, type Value } from '../../base/codec/value.ts';
import { loadYaml } from '../../base/codec/yaml/index.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { type MergeStrategy, mergeDicts, mergeStrategies } from '../../base/util/index.ts';
import type { ExtensionLog, MinionServices } from '../../extend/sdk/index.ts';

type Opts = Readonly<Record<string, Value>>;

export interface PillarParts {
  readonly opts: Opts;
  readonly minion: MinionServices;
  readonly override: Dict | undefined;
}

/** The pillar for this run. */
export async function gatherPillar({ opts, minion, override }: PillarParts): Promise<Dict> {
  const pillar = await minion.compilePillar({
    ...(override ? { override } : {}),
    ...textField('pillarenv', opts['pillarenv']),
    ...textField('saltenv', opts['saltenv']),
  });
  return override ? overlay(pillar, override, opts) : pillar;
}

function textField(name: string, value: Value | undefined): Record<string, string> {
  return value === undefined || value === null ? {} : { [name]: pyStr(value) };
}

/**
 * As in Salt: sources of the pillar may override the given values while it is compiled; afterwards the given values
 * take precedence.
 */
function overlay(pillar: Dict, override: Dict, opts: Opts): Dict {
  const strategy = opts['pillar_source_merging_strategy'];
  return mergeDicts(pillar, override, {
    strategy: mergeStrategies.includes(strategy as MergeStrategy) ? (strategy as MergeStrategy) : 'smart',
    renderer: pyStr(opts['renderer'] ?? 'yaml'),
    mergeLists: isTruthy(opts['pillar_merge_lists'] ?? false),
  });
}

/** The override as a dict; decrypted first when it is encrypted. */
export async function readOverride(
  given: Value | undefined,
  decrypt: ((value: Value) => Promise<Value>) | undefined,
  log: ExtensionLog,
): Promise<Dict | undefined> {
  if (given === undefined || given === null) return undefined;
  if (!decrypt && !isDict(given)) {
    throw new HaliteError(
      'call.arguments',
      'Pillar data must be formatted as a dictionary, unless pillar_enc is specified.',
    );
  }
  let value: Value = given;
  if (decrypt) {
    try {
      value = await decrypt(given);
    } catch (error) {
      log.error(`Failed to decrypt pillar override: ${String(error)}`);
    }
  }
  if (typeof value === 'string') value = loadYaml(value) ?? newDict();
  if (isDict(value)) return value;
  log.error('Pillar override was not passed as a dictionary');
  return undefined;
}

/** The errors of the pillar compiler. */
export function pillarErrors(pillar: Dict): readonly Value[] | undefined {
  const errors = dictGet(pillar, '_errors');
  if (errors === undefined || !isTruthy(errors)) return undefined;
  return oneOrMore(errors);
}
