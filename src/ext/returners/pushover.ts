// Returner `pushover`: results as push notifications, through pushover.net.
import { defineReturner, HaliteError, p } from 'halite/sdk';
import { pprintValue } from 'halite/sdk/codec';
import { httpCall, joinUrl } from '../shared/http/request.ts';
import { jsonDict, toJson } from './shared/loads.ts';
import { chatText, shortened } from './shared/message.ts';

/** Pushover refuses longer messages. */
const limit = 1024;

export default defineReturner({
  name: 'pushover',
  doc: 'Sends every result as a notification through pushover.net, at most 1,024 characters of it.',
  options: {
    user: p.string({ doc: 'The key of the user or group, not a mail address.' }),
    token: p.string({ doc: 'The token of the application.' }),
    title: p.string({ default: null, doc: 'Title of the notification.' }),
    device: p.string({ default: null, doc: 'One device of the user only.' }),
    priority: p.int({ default: 0, doc: 'From -2 to 2; 2 asks for an answer and needs `expire` and `retry`.' }),
    expire: p.int({ default: null, doc: 'With priority 2: seconds until it gives up.' }),
    retry: p.int({ default: null, doc: 'With priority 2: seconds between two attempts.' }),
    sound: p.string({ default: null, doc: 'The sound of the notification.' }),
    api_version: p.string({ default: '1', doc: 'Version of the API.' }),
    profile: p.string({ default: null, doc: 'Name of a set of these options (`pushover.token: …`).' }),
    api_url: p.string({ default: 'https://api.pushover.net', doc: 'Address of the API.' }),
  },
  open(given, ctx) {
    if (given.priority === 2 && given.expire === null && given.retry === null) {
      const text = 'Priority 2 requires pushover.expire and pushover.retry options.';
      throw new HaliteError('config.value', text);
    }
    const settings = (['user', 'token', 'title', 'device', 'priority', 'expire', 'retry', 'sound'] as const).flatMap(
      (name) => (given[name] === null ? [] : [[name, String(given[name])] as const]),
    );
    return {
      async save(ret) {
        const message = shortened(chatText(ret, pprintValue(ret['return'] ?? null)), limit);
        const answer = await httpCall({
          service: 'pushover',
          url: joinUrl(given.api_url, given.api_version, 'messages.json'),
          form: { ...Object.fromEntries(settings), message },
          accept: [400],
          secrets: [given.token, given.user],
          signal: ctx.signal,
        });
        const reply = jsonDict(answer.text);
        if (reply?.['status'] === 1) return;
        const why = toJson(reply?.['errors'] ?? 'no reason given').replaceAll(given.token, '***');
        throw new HaliteError('call.failed', `pushover refused the message: ${why.slice(0, 200)}`);
      },
    };
  },
});
