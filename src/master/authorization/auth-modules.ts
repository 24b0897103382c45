// The modules named in `external_auth`: opened when the first login needs them, and kept open.
import { type Dict, dictKeys, isDict, newDict } from '../../base/codec/value.ts';
import type { MasterOpts } from '../../base/config/index.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { bindArguments } from '../../engine/exec/bind.ts';
import { execProgram } from '../../engine/exec/exec.ts';
import type { Loader } from '../../extend/loader/index.ts';
import type { Auth, AuthContext, AuthSession } from '../../extend/sdk/index.ts';
import { blockOf, parametersOf } from './external-auth.ts';

export interface ModuleParts {
  readonly opts: Pick<MasterOpts, 'raw'>;
  readonly log: Logger;
  readonly loader: Pick<Loader, 'get' | 'reason'>;
}

/** Modules of Salt that do not exist here, and what to use. */
const absent: Readonly<Record<string, string>> = {
  django:
    'it needs a Python process with your Django project: let the project answer a login request, and use rest or oidc',
  keystone: 'use oidc, which Keystone offers for its users',
  yubico: 'use pam with pam_yubico',
};

export class AuthModules {
  readonly #parts: ModuleParts;
  readonly #open = new Map<string, Promise<AuthSession>>();

  constructor(parts: ModuleParts) {
    this.#parts = parts;
  }

  /** Names in the configuration. */
  get configured(): string[] {
    const { external_auth: all } = this.#parts.opts.raw;
    return isDict(all) ? dictKeys(all).map(String) : [];
  }

  /** The block of a module; undefined when it is not in the configuration. */
  block(name: string): Dict | undefined {
    return blockOf(this.#parts.opts.raw['external_auth'], name);
  }

  /** Throws with the reason when the module is not configured or does not work. */
  session(name: string): Promise<AuthSession> {
    const block = this.block(name);
    if (!block) throw new HaliteError('auth.failed', `The eauth system "${name}" is not enabled`);
    const known = this.#open.get(name);
    if (known) return known;
    const opening = this.#openModule(name, block);
    this.#open.set(name, opening);
    // A file or a server that was missing may be there at the next login.
    opening.catch(() => this.#open.delete(name));
    return opening;
  }

  /** Opens all of them, so that the administrator learns about problems when the master starts. */
  async tryAll(): Promise<void> {
    const { log } = this.#parts;
    for (const name of this.configured) {
      try {
        await this.session(name);
        const caution = (await this.#find(name)).caution;
        if (caution) log.warn(`external_auth: ${caution}`, { module: name });
      } catch (error) {
        log.error('logins are refused: this module of external_auth does not work', {
          module: name,
          why: messageOf(error),
        });
      }
    }
  }

  async #openModule(name: string, block: Dict): Promise<AuthSession> {
    const auth = await this.#find(name);
    const given = newDict(parametersOf(block));
    const settings = bindArguments(`external_auth: ${name}`, auth.settings, [], given);
    return auth.open(settings as never, this.#context());
  }

  async #find(name: string): Promise<Auth> {
    const { loader } = this.#parts;
    const found = await loader.get('auth', name);
    if (found) return found.extension;
    const why = Object.hasOwn(absent, name) ? absent[name] : loader.reason('auth', name);
    throw new HaliteError('config.value', `external_auth: the module ${name} is not available${why ? `: ${why}` : ''}`);
  }

  #context(): AuthContext {
    const { opts, log } = this.#parts;
    return { opts: opts.raw, log, exec: (file, args, options = {}) => execProgram(file, args, options) };
  }
}
