// Returner `hipchat`: results as messages in a room, for services with HipChat's API.
import { defineReturner, HaliteError, newDict, type PlainDict, p } from 'halite/sdk';
import { pprintValue } from 'halite/sdk/codec';
import { httpCall, joinUrl } from '../shared/http/request.ts';
import { toJson } from './shared/loads.ts';
import { chatText, shortened } from './shared/message.ts';

/** HipChat refuses longer messages. */
const limit = 10_000;

export default defineReturner({
  name: 'hipchat',
  doc:
    'Posts every result into a room through the API of HipChat, which compatible services still offer; version 1 ' +
    'sends a form, version 2 JSON.',
  options: {
    room_id: p.string({ doc: 'The room.' }),
    api_key: p.string({ doc: 'The token.' }),
    api_version: p.string({ default: 'v1', doc: '`v1` or `v2`.' }),
    api_url: p.string({ default: 'https://api.hipchat.com', doc: 'Address of the API.' }),
    from_name: p.string({ doc: 'Sender of the message.' }),
    color: p.string({ default: 'yellow', doc: 'Colour of the message; results that failed are red.' }),
    notify: p.bool({ default: false, doc: 'Whether users in the room are notified.' }),
    profile: p.string({ default: null, doc: 'Name of a set of these options (`hipchat.api_key: …`).' }),
  },
  open(given, ctx) {
    const version = given.api_version.toLowerCase();
    if (version !== 'v1' && version !== 'v2') {
      throw new HaliteError('config.value', `hipchat.api_version is v1 or v2, not ${given.api_version}`);
    }
    const common = { service: 'hipchat', secrets: [given.api_key], signal: ctx.signal };
    const parts = (ret: PlainDict) => ({
      message: shortened(chatText(ret, pprintValue(ret['return'] ?? null)), limit),
      color: ret['success'] === false ? 'red' : given.color,
    });
    const sendV1 = async (ret: PlainDict): Promise<void> => {
      const url = joinUrl(
        given.api_url,
        `v1/rooms/message?format=json&auth_token=${encodeURIComponent(given.api_key)}`,
      );
      const { message, color } = parts(ret);
      const form = { room_id: given.room_id, from: given.from_name, message, message_format: 'text', color };
      await httpCall({ ...common, url, form: { ...form, notify: given.notify ? '1' : '0' } });
    };
    const sendV2 = async (ret: PlainDict): Promise<void> => {
      const url = joinUrl(given.api_url, 'v2/room', encodeURIComponent(given.room_id), 'notification');
      const fields = { from: given.from_name, ...parts(ret), message_format: 'text', notify: given.notify };
      const headers = { authorization: `Bearer ${given.api_key}` };
      await httpCall({ ...common, url, headers, json: toJson(newDict(Object.entries(fields))) });
    };
    return { save: version === 'v1' ? sendV1 : sendV2 };
  },
});
