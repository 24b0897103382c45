// Returner `telegram`: results as messages of a bot in a chat of Telegram.
import { defineReturner, HaliteError, p, pyStr } from 'halite/sdk';
import { httpCall, joinUrl } from '../shared/http/request.ts';
import { jsonDict } from './shared/loads.ts';
import { chatText, shortened } from './shared/message.ts';

/** Telegram refuses longer messages. */
const limit = 4096;

export default defineReturner({
  name: 'telegram',
  doc: 'Sends every result into a chat of Telegram, at most 4,096 characters of it.',
  options: {
    chat_id: p.string({ doc: 'The number of the chat.' }),
    token: p.string({ doc: 'The token of the bot.' }),
    api_url: p.string({ default: 'https://api.telegram.org', doc: 'Address of the API.' }),
  },
  open({ chat_id, token, api_url }, ctx) {
    return {
      async save(ret) {
        const form = { chat_id, text: shortened(chatText(ret, pyStr(ret['return'])), limit) };
        const url = joinUrl(api_url, `bot${token}`, 'sendMessage');
        const answer = await httpCall({ service: 'telegram', url, form, secrets: [token], signal: ctx.signal });
        const reply = jsonDict(answer.text);
        if (reply?.['ok'] !== true) {
          const why = pyStr(reply?.['description'] ?? 'no reason given');
          throw new HaliteError('call.failed', `telegram refused the message: ${why}`);
        }
      },
    };
  },
});
