// Builds what decides who may do what: keys of users, external authentication, tokens.
import { dictGet } from '../../base/codec/value.ts';
import type { MasterOpts } from '../../base/config/index.ts';
import { restBlock } from '../../base/config/rest-block.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { Loader } from '../../extend/loader/index.ts';
import type { TokenStore } from '../../store/tokens/tokens.ts';
import { AuthModules } from '../authorization/auth-modules.ts';
import { Authorization } from '../authorization/authorization.ts';
import { Logins } from '../authorization/logins.ts';
import { NoThrottle } from '../authorization/throttle.ts';
import { UserKeys } from '../authorization/user-keys.ts';
import type { Targets } from '../publish/targets.ts';
import { openTokens } from './tokens.ts';

export interface AccessParts {
  readonly opts: MasterOpts;
  readonly log: Logger;
  readonly loader: Loader;
  readonly targets: Pick<Targets, 'match' | 'nodegroups'>;
}

export interface Access {
  readonly authorization: Authorization;
  readonly logins: Logins;
  readonly tokens: TokenStore;
}

export function buildAccess({ opts, log, loader, targets }: AccessParts): Access {
  const modules = new AuthModules({ opts, log, loader });
  const tokens = openTokens(opts, log);
  const rest = restBlock(opts.raw)?.options;
  const counted = rest === undefined || dictGet(rest, 'login_throttle') !== false;
  if (!counted) log.warn('login_throttle is false: failed logins are not counted, and passwords can be guessed');
  const logins = new Logins({ opts, log, modules, tokens, ...(counted ? {} : { throttle: new NoThrottle() }) });
  modules.tryAll().catch((error: unknown) => log.error('external_auth failed', { error: messageOf(error) }));
  return { authorization: new Authorization({ opts, userKeys: new UserKeys(opts), targets, logins }), logins, tokens };
}
