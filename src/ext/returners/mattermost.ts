// Returner `mattermost`: results and events as messages, through an incoming webhook of Mattermost.
import { defineReturner, newDict, p, pyStr } from 'halite/sdk';
import { httpCall, joinUrl } from '../shared/http/request.ts';
import { toJson } from './shared/loads.ts';
import { chatText, shortened } from './shared/message.ts';

/** By default the server refuses longer messages. */
const limit = 16_383;

export default defineReturner({
  name: 'mattermost',
  doc: 'Posts every result, or every event, through an incoming webhook of Mattermost.',
  keeps: ['events'],
  options: {
    hook: p.string({ doc: 'The key of the webhook: what follows `/hooks/` in its address.' }),
    api_url: p.string({ doc: 'Address of the server.' }),
    channel: p.string({ default: null, doc: 'Another channel than the one of the webhook.' }),
    username: p.string({ default: null, doc: 'Sender of the message.' }),
  },
  open({ hook, api_url, channel, username }, ctx) {
    const post = async (message: string): Promise<void> => {
      const payload = newDict([
        ...(channel ? [['channel', channel] as const] : []),
        ...(username ? [['username', username] as const] : []),
        ['text', `\`\`\`${shortened(message, limit - 6)}\`\`\``],
      ]);
      const url = joinUrl(api_url, 'hooks', encodeURIComponent(hook));
      const form = { payload: toJson(payload) };
      await httpCall({ service: 'mattermost', url, form, secrets: [hook], signal: ctx.signal });
    };
    return {
      save: (ret) => post(chatText(ret, pyStr(ret['return']))),
      async saveEvents(events) {
        for (const { tag, data } of events) {
          const lines = Object.entries(data).map(([name, value]) => `${name}: ${pyStr(value)}\r\n`);
          await post(`tag: ${tag}\r\n${lines.join('')}`);
        }
      },
    };
  },
});
