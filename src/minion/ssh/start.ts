// The message with which salt-ssh starts a job here.
import { boolField, dictField, listField, textField } from '../../base/codec/fields.ts';
import type { Dict, PlainDict, Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';

export interface SshStart {
  readonly id: string;
  readonly jid: string;
  readonly fun: string;
  /** Shown with a result that is collected later. */
  readonly receipt: string;
  /** As typed; a parameter declared as text keeps them. */
  readonly words: readonly string[] | undefined;
  readonly args: readonly Value[];
  readonly kwargs: Dict;
  readonly noParse: readonly string[];
  /** Options of the minion. */
  readonly opts: Dict;
  /** There are extensions of users on the file server. */
  readonly extensions: boolean;
  /** The version of the SDK for them. */
  readonly sdk: string;
}

export function readStart(message: PlainDict): SshStart {
  const need = (name: string): string => {
    const text = textField(message, name);
    if (text === undefined || text === '') throw new HaliteError('codec.malformed', `The job has no ${name}`);
    return text;
  };
  const texts = (name: string): string[] | undefined => listField(message, name)?.map(String);
  return {
    ...{ id: need('id'), jid: need('jid'), fun: need('fun'), receipt: need('receipt') },
    words: texts('words'),
    args: listField(message, 'args') ?? [],
    kwargs: dictField(message, 'kwargs') ?? {},
    noParse: texts('no_parse') ?? [],
    opts: dictField(message, 'opts') ?? {},
    extensions: boolField(message, 'extensions'),
    sdk: textField(message, 'sdk') ?? '',
  };
}
