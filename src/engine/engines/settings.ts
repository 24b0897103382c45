// Reads the option `engines` in all of its forms: names, maps of a name and its options, or one map of all.
import { asList, dictEntries, isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';

export interface EngineSetting {
  /** As configured; it is what messages name. */
  readonly name: string;
  /** The engine to run; differs from the name with `engine_module`. */
  readonly module: string;
  readonly config: PlainDict;
}

export interface EngineSettings {
  readonly engines: readonly EngineSetting[];
  readonly problems: readonly string[];
}

/** Each is a process: more than this is a mistake. */
const mostEngines = 100;

export function readEngines(given: Value | undefined): EngineSettings {
  const engines: EngineSetting[] = [];
  const problems: string[] = [];
  for (const [name, options] of entriesOf(given ?? null, problems)) {
    if (options !== null && !isDict(options)) {
      problems.push(`The options of the engine ${name} are not a map`);
      continue;
    }
    const config = newDict(options === null ? [] : dictEntries(options).map(([key, value]) => [String(key), value]));
    const told = config['engine_module'];
    delete config['engine_module'];
    engines.push({ name, module: typeof told === 'string' && told !== '' ? told : name, config });
  }
  if (engines.length > mostEngines)
    problems.push(`${engines.length} engines are configured; only the first ${mostEngines} are started`);
  return { engines: engines.slice(0, mostEngines), problems };
}

function entriesOf(given: Value, problems: string[]): [string, Value][] {
  if (given === null) return [];
  if (isDict(given)) return dictEntries(given).map(([name, options]) => [String(name), options]);
  const listed = asList(given);
  if (!listed) {
    problems.push('The option engines is neither a list nor a map');
    return [];
  }
  return listed.flatMap((entry): [string, Value][] => {
    if (typeof entry === 'string' && entry !== '') return [[entry, null]];
    if (isDict(entry)) return dictEntries(entry).map(([name, options]) => [String(name), options]);
    problems.push(`The option engines has an entry that is neither a name nor a map: ${JSON.stringify(entry)}`);
    return [];
  });
}

/** What the engine `reactor` sets; the reactor itself is a part of the master. */
const reactorOptions: Readonly<Record<string, string>> = {
  refresh_interval: 'reactor_refresh_interval',
  worker_threads: 'reactor_worker_threads',
  worker_hwm: 'reactor_worker_hwm',
};

/** The options that the engine `reactor` changes, and the engines that are left. */
export function takeReactor({ engines, problems }: EngineSettings): EngineSettings & { readonly changes: PlainDict } {
  const changes = newDict();
  const found = [...problems];
  for (const { module, config } of engines) {
    if (module !== 'reactor') continue;
    for (const [key, value] of Object.entries(config)) {
      const option = Object.hasOwn(reactorOptions, key) ? reactorOptions[key] : undefined;
      if (option === undefined) found.push(`The engine reactor has no option ${key}`);
      else if (value !== null) changes[option] = value;
    }
  }
  return { engines: engines.filter(({ module }) => module !== 'reactor'), problems: found, changes };
}
