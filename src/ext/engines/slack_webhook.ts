// Engine `slack_webhook`: a message for each event, through an incoming webhook of Slack, Mattermost or the like.
import { asText, defineEngine, type EngineEvent, fieldOf, p, pyStr } from 'halite/sdk';
import { httpCall } from '../shared/http/request.ts';
import { persistently, toLine, wantedEvents, whichEvents } from './shared/events.ts';

const longestText = 3000;

/** `{tag}`, `{data}` and fields of the data in braces; what is not there stays empty. */
function textOf(template: string, { tag, data }: EngineEvent): string {
  const filled = template.replace(/\{([\w.-]{1,100})\}/g, (_, name: string) => {
    if (name === 'tag') return tag;
    if (name === 'data') return toLine(data);
    const value = name.split('.').reduce<ReturnType<typeof fieldOf>>((at, key) => fieldOf(at ?? null, key), data);
    return value === undefined || value === null ? '' : (asText(value) ?? pyStr(value));
  });
  return filled.length > longestText ? `${filled.slice(0, longestText)}…` : filled;
}

export default defineEngine({
  name: 'slack_webhook',
  doc: 'Posts a message for each event to an incoming webhook of Slack, Mattermost, Rocket.Chat or the like.',
  examples: [
    "engines:\n  - slack_webhook:\n      webhook: T0/B0/XXXX\n      tags: [salt/minion/*/start, salt/key]\n      text: '{tag}: {id}'",
  ],
  params: {
    webhook: p.string({
      doc: 'The part of the address after https://hooks.slack.com/services/, or a complete address.',
    }),
    tags: p.strings({ doc: 'Globs for the tags of the events.' }),
    funs: whichEvents.funs,
    text: p.string({ default: '{tag} {data}', doc: 'The message, with {tag}, {data} and fields of the data.' }),
    channel: p.string({ default: null, doc: 'Another channel than that of the webhook, where it allows one.' }),
    username: p.string({ default: null, doc: 'The name that the message has.' }),
  },
  async start({ webhook, tags, funs, text, channel, username }, ctx) {
    const url = new URL(webhook.replace(/^\/+/, ''), 'https://hooks.slack.com/services/').href;
    // The address itself is the secret.
    const secrets = [webhook, new URL(url).pathname];
    for await (const event of wantedEvents({ tags, funs }, ctx)) {
      const message = {
        text: textOf(text, event),
        ...(channel === null ? {} : { channel }),
        ...(username === null ? {} : { username }),
      };
      const json = JSON.stringify(message);
      await persistently('the webhook', ctx, () =>
        httpCall({ service: 'the webhook', url, method: 'POST', json, secrets, signal: ctx.signal }),
      );
    }
  },
});
