// A runner that runs in the process of `salt-run`, with the rights of its user; the runner of that name declares its
// parameters.
import { newDict, type PlainDict, type Value } from '../base/codec/value.ts';
import { HaliteError } from '../base/errors/index.ts';
import { nullLogger } from '../base/log/null-logger.ts';
import { bindArguments } from '../engine/exec/bind.ts';
import { Loader } from '../extend/loader/index.ts';
import type { Terminal } from './io.ts';

export interface LocalCall {
  readonly configDir: string;
  readonly args: readonly Value[];
  readonly kwargs: PlainDict;
  readonly dryRun: boolean;
  readonly io: Terminal;
}

/** The arguments of a procedure, as the runner `master` declares them. */
export class Given {
  readonly #values: Readonly<Record<string, unknown>>;
  constructor(values: Readonly<Record<string, unknown>>) {
    this.#values = values;
  }
  text(name: string): string {
    const value = this.#values[name];
    return typeof value === 'string' ? value : '';
  }
  flag(name: string): boolean {
    return this.#values[name] === true;
  }
  number(name: string): number | undefined {
    const value = this.#values[name];
    return typeof value === 'number' ? value : undefined;
  }
}

export async function givenArguments(fun: string, call: LocalCall): Promise<Given> {
  const loader = new Loader({ opts: () => newDict(), grains: () => newDict(), log: nullLogger(), userCode: 'names' });
  const found = await loader.find('runners', fun);
  if (!found) throw new HaliteError('call.unknown', `There is no function ${fun}`);
  return new Given(bindArguments(found.name, found.fn.params, call.args, call.kwargs));
}
