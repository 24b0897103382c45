// Returner `slack`: results as messages in a channel of Slack, through its API.
import {
  defineReturner,
  dictEntries,
  dictGet,
  dictOf,
  dictSize,
  HaliteError,
  isDict,
  type PlainDict,
  p,
  type Value,
} from 'halite/sdk';
import { dumpYaml, pprintValue } from 'halite/sdk/codec';
import { httpCall, joinUrl } from '../shared/http/request.ts';
import { jsonDict } from './shared/loads.ts';
import { chatText, shortened } from './shared/message.ts';

/** Slack truncates longer messages. */
const limit = 40_000;

type Wanted = 'all' | 'changes' | 'failed';

/** The states to show. Other results are shown unchanged. */
function chosen(returned: Value, wanted: Wanted): Value {
  if (wanted === 'all' || !isDict(returned)) return returned;
  return dictOf(
    dictEntries(returned).filter(([, data]) => {
      if (!isDict(data)) return true;
      const changes = dictGet(data, 'changes');
      const changed = wanted === 'changes' && isDict(changes) && dictSize(changes) > 0;
      return dictGet(data, 'result') !== true || changed;
    }),
  );
}

export default defineReturner({
  name: 'slack',
  doc: 'Posts every result into a channel of Slack.',
  options: {
    channel: p.string({ default: '#general', doc: 'The channel.' }),
    api_key: p.string({ doc: 'The token of the application.' }),
    username: p.string({ default: null, doc: 'Sender of the message.' }),
    as_user: p.bool({ default: false, doc: 'Post as the user the token belongs to.' }),
    changes: p.bool({ default: false, doc: 'Of states, show only those that changed something or failed.' }),
    only_show_failed: p.bool({ default: false, doc: 'Of states, show only those that failed.' }),
    yaml_format: p.bool({ default: false, doc: 'Show the result as YAML.' }),
    profile: p.string({ default: null, doc: 'Name of a set of these options (`slack.api_key: …`).' }),
    api_url: p.string({ default: 'https://slack.com', doc: 'Address of the API.' }),
  },
  open(given, ctx) {
    if (given.changes && given.only_show_failed) {
      throw new HaliteError('config.value', 'slack.changes and slack.only_show_failed exclude each other');
    }
    const wanted: Wanted = given.changes ? 'changes' : given.only_show_failed ? 'failed' : 'all';
    const textOf = (ret: PlainDict): string => {
      const returned = chosen(ret['return'] ?? null, wanted);
      const shown = given.yaml_format ? dumpYaml(returned) : pprintValue(returned);
      return shortened(chatText(ret, shown), limit - 6);
    };
    return {
      async save(ret) {
        const answer = await httpCall({
          service: 'slack',
          url: joinUrl(given.api_url, 'api/chat.postMessage'),
          headers: { authorization: `Bearer ${given.api_key}` },
          form: {
            channel: given.channel,
            ...(given.username === null ? {} : { username: given.username }),
            as_user: given.as_user ? 'True' : 'False',
            text: `\`\`\`${textOf(ret)}\`\`\``,
          },
          secrets: [given.api_key],
          signal: ctx.signal,
        });
        const reply = jsonDict(answer.text);
        if (reply?.['ok'] === false)
          throw new HaliteError('call.failed', `slack refused the message: ${reply['error']}`);
      },
    };
  },
});
