// Events that programs outside fire through the API (webhooks): below one tag, with a token, or with the key that only
// opens this call, where the API accepts hooks without a token.
import { dictField, textField } from '../../base/codec/fields.ts';
import { newDict, type PlainDict } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { EventBus } from '../../protocol/event/bus.ts';

const mostParts = 16;
const part = /^[^\x00-\x1f\x7f/]{1,128}$/;

export function fireHook(bus: Pick<EventBus, 'fire'>, args: PlainDict): true {
  const path = textField(args, 'path') ?? '';
  const parts = path === '' ? [] : path.split('/');
  if (parts.length > mostParts || !parts.every((each) => part.test(each)))
    throw new HaliteError(
      'call.arguments',
      `The path of a hook has at most ${mostParts} parts of 1 to 128 characters, without control characters.`,
    );
  bus.fire(['salt/netapi/hook', ...parts].join('/'), dictField(args, 'data') ?? newDict());
  return true;
}
