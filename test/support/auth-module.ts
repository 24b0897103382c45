// Modules of external authentication on their own, as the master opens them.
import { newDict, type Value } from '../../src/base/codec/value.ts';
import { bindArguments } from '../../src/engine/exec/bind.ts';
import { execProgram } from '../../src/engine/exec/exec.ts';
import type { Auth, AuthSession } from '../../src/extend/sdk/index.ts';

const quiet = (): void => undefined;

export interface OpenedModule {
  readonly session: AuthSession;
  /** Groups of an accepted login; undefined when it is refused, whether silently or with a reason. */
  readonly groupsOf: (username: string, password: string) => Promise<string[] | undefined>;
  /** Whether the login is accepted. */
  readonly accepts: (username: string, password: string) => Promise<boolean>;
  readonly warnings: readonly string[];
}

export async function openModule(
  module: Auth,
  opts: Readonly<Record<string, Value>>,
  settings: Readonly<Record<string, Value>> = {},
): Promise<OpenedModule> {
  const warnings: string[] = [];
  const log = { debug: quiet, info: quiet, error: quiet, warn: (text: string) => void warnings.push(text) };
  const exec = (file: string, args: readonly string[], options = {}) => execProgram(file, args, options);
  const bound = bindArguments(module.name, module.settings, [], newDict(Object.entries(settings)));
  const session = await module.open(bound as never, { opts, log, exec });
  const check = async (username: string, password: string) => {
    try {
      return await session.check({ username, password });
    } catch {
      return undefined;
    }
  };
  return {
    session,
    warnings,
    groupsOf: async (username, password) => {
      const accepted = await check(username, password);
      return accepted && [...(accepted.groups ?? [])].sort();
    },
    accepts: async (username, password) => (await check(username, password)) !== undefined,
  };
}
