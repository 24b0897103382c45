// A function on hosts over SSH, as the API requests it from the master and the master from a process of its own.
import {
  boolField,
  dictField,
  intField,
  listField,
  textField,
  textKeyed,
  textsField,
} from '../../../base/codec/fields.ts';
import { asPlainDict, isTexts, newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import { wireTexts } from '../../job/job.ts';
import { isProblem, type Problem, problem } from './fields.ts';

export interface SshCall {
  readonly tgt: string | readonly string[];
  readonly tgt_type: string;
  readonly fun: string;
  readonly arg: readonly Value[];
  readonly kwarg: PlainDict;
  /** The path of a file below `rosters`; empty for the configured roster. */
  readonly rosterFile: string;
  /** Words for the shell of the hosts instead of a function. */
  readonly raw: boolean;
}

export const sshCallArgs = ({ tgt, tgt_type, fun, arg, kwarg, rosterFile, raw }: SshCall): PlainDict =>
  newDict(Object.entries({ tgt: wireTexts(tgt), tgt_type, fun, arg: [...arg], kwarg, roster_file: rosterFile, raw }));

const mostText = 4096;

export function readSshCall(args: PlainDict): SshCall | Problem {
  const [tgt, fun, kind] = [textsField(args, 'tgt'), textField(args, 'fun'), textField(args, 'tgt_type') || 'glob'];
  if (tgt === undefined || tgt.length === 0) return problem('it has no target');
  if (!fun || fun.length > mostText) return problem('it names no function');
  const rosterFile = textField(args, 'roster_file') ?? '';
  if (rosterFile.length > mostText) return problem('the name of its roster file is too long');
  return {
    ...{ tgt, tgt_type: kind, fun, arg: listField(args, 'arg') ?? [] },
    ...{ kwarg: textKeyed(dictField(args, 'kwarg')), rosterFile, raw: boolField(args, 'raw') },
  };
}

/** With the names of its caller and of its job. */
export interface ServedSshCall {
  readonly call: SshCall;
  readonly configDir: string;
  readonly jid: string;
  readonly user: string;
}

export const servedSshArgs = ({ call, configDir, jid, user }: ServedSshCall): PlainDict =>
  newDict(Object.entries({ ...sshCallArgs(call), config_dir: configDir, jid, user }));

export function readServedSsh(value: Value): ServedSshCall | Problem {
  const args = asPlainDict(value) ?? newDict();
  const call = readSshCall(args);
  if (isProblem(call)) return call;
  const [configDir, jid, user] = ['config_dir', 'jid', 'user'].map((name) => textField(args, name) ?? '');
  return { call, configDir: configDir ?? '', jid: jid ?? '', user: user ?? '' };
}

export type SshItem =
  | { readonly type: 'hosts'; readonly jid: string; readonly ids: readonly string[] }
  | {
      readonly type: 'return';
      readonly id: string;
      readonly ret: Value;
      readonly retcode: number;
      readonly funArgs: readonly Value[];
    }
  | { readonly type: 'failed'; readonly text: string; readonly hint: string }
  | { readonly type: 'end' };

export const sshItem = (item: SshItem): PlainDict => newDict(Object.entries(item as Readonly<Record<string, Value>>));

export function readSshItem(value: Value): SshItem | Problem {
  const item = asPlainDict(value) ?? newDict();
  const text = (name: string): string => textField(item, name) ?? '';
  switch (text('type')) {
    case 'hosts': {
      const ids = item['ids'];
      return { type: 'hosts', jid: text('jid'), ids: isTexts(ids) ? ids : [] };
    }
    case 'return':
      return {
        ...{ type: 'return', id: text('id'), ret: item['ret'] ?? null, retcode: intField(item, 'retcode') ?? 1 },
        funArgs: listField(item, 'funArgs') ?? [],
      };
    case 'failed':
      return { type: 'failed', text: text('text'), hint: text('hint') };
    case 'end':
      return { type: 'end' };
    default:
      return problem('an item of salt-ssh with an unknown kind');
  }
}
