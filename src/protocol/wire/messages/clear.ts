// Clear commands of local clients and API hosts on the request port.
import { type Dict, newDict, type Value } from '../../../base/codec/value.ts';
import { dictField, listField, type Problem, problem, textField, textsField } from './fields.ts';

/** How the caller proves who it is; the first that is present counts. */
export interface ClearCredentials {
  readonly token: string | undefined;
  readonly eauth: string | undefined;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly user: string | undefined;
  readonly key: string | undefined;
}

export type ClearCommand =
  | { readonly cmd: 'ping'; readonly load: Dict }
  | {
      readonly cmd: 'publish';
      readonly tgt: string | readonly string[];
      readonly tgt_type: string;
      readonly fun: string | readonly string[];
      readonly arg: readonly Value[];
      readonly ret: string;
      readonly jid: string | undefined;
      readonly kwargs: Dict;
      readonly credentials: ClearCredentials;
    }
  | {
      readonly cmd: 'runner' | 'wheel';
      readonly fun: string;
      readonly arg: readonly Value[];
      readonly kwarg: Dict;
      /** Wheel calls have their arguments beside the others. */
      readonly load: Dict;
      readonly credentials: ClearCredentials;
    }
  | { readonly cmd: 'mk_token'; readonly load: Dict; readonly credentials: ClearCredentials }
  | { readonly cmd: 'get_token'; readonly token: string }
  /** Salt answers `{}`. */
  | { readonly cmd: 'unknown'; readonly name: string };

export function readClearCommand(load: Dict): ClearCommand | Problem {
  const cmd = textField(load, 'cmd') ?? '';
  switch (cmd) {
    case 'ping':
      return { cmd, load };
    case 'publish':
      return readPublish(load);
    case 'runner':
    case 'wheel': {
      const fun = textField(load, 'fun');
      if (fun === undefined) return problem(`${cmd} without fun`);
      const kwarg = dictField(load, 'kwarg') ?? newDict();
      return { cmd, fun, arg: listField(load, 'arg') ?? [], kwarg, load, credentials: readCredentials(load) };
    }
    case 'mk_token':
      return { cmd, load, credentials: readCredentials(load) };
    case 'get_token':
      return { cmd, token: textField(load, 'token') ?? '' };
    default:
      return { cmd: 'unknown', name: cmd };
  }
}

function readPublish(load: Dict): ClearCommand | Problem {
  const tgt = textsField(load, 'tgt');
  const fun = textsField(load, 'fun');
  if (tgt === undefined || fun === undefined) return problem('publish without tgt or fun');
  const kwargs = dictField(load, 'kwargs') ?? newDict();
  return {
    cmd: 'publish',
    tgt,
    tgt_type: textField(load, 'tgt_type') ?? 'glob',
    fun,
    arg: listField(load, 'arg') ?? [],
    ret: textField(load, 'ret') ?? '',
    // Salt: an empty jid asks for a new one.
    jid: textField(load, 'jid') || undefined,
    kwargs,
    credentials: readCredentials(load, kwargs),
  };
}

/** In a publish, token and eauth stand in `kwargs`, user and key beside it. */
function readCredentials(load: Dict, kwargs: Dict = load): ClearCredentials {
  return {
    token: textField(kwargs, 'token'),
    eauth: textField(kwargs, 'eauth'),
    username: textField(kwargs, 'username'),
    password: textField(kwargs, 'password'),
    user: textField(load, 'user'),
    key: textField(load, 'key'),
  };
}
