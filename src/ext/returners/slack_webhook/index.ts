// Returner `slack_webhook`: results as messages of Slack, through an incoming webhook.
import { defineReturner, HaliteError, type PlainDict, p, pyStr } from 'halite/sdk';
import { httpCall } from '../../shared/http/request.ts';
import { toJson } from '../shared/loads.ts';
import { payloadOf } from './payload.ts';

/** Results in events that are sent as messages: not those of a master's own jobs. */
const isNews = (tag: string, data: PlainDict): boolean =>
  !tag.startsWith('salt/auth') &&
  typeof data['fun'] === 'string' &&
  data['fun'] !== 'saltutil.find_job' &&
  'return' in data;

export default defineReturner({
  name: 'slack_webhook',
  doc: 'Posts every result to Slack through an incoming webhook: the job, and for states how many changed and failed.',
  keeps: ['events'],
  options: {
    webhook: p.string({
      doc: 'The part of the address after https://hooks.slack.com/services/, or a complete address.',
    }),
    success_title: p.string({ default: '{id} | Succeeded', doc: 'Short title; grains in braces are filled in.' }),
    failure_title: p.string({ default: '{id} | Failed', doc: 'Short title when it failed.' }),
    author_icon: p.string({ default: '', doc: 'Address of a small picture.' }),
    show_tasks: p.bool({ default: false, doc: 'List the states that changed and failed.' }),
  },
  open(given, ctx) {
    const url = new URL(given.webhook.replace(/^\/+/, ''), 'https://hooks.slack.com/services/').href;
    const send = async (ret: PlainDict, author: string): Promise<void> => {
      const grains = { ...ctx.grains, id: ctx.grains['id'] ?? author };
      const form = { payload: toJson(payloadOf(ret, given, grains, author)) };
      // The address itself is the secret.
      const secrets = [given.webhook, new URL(url).pathname];
      const answer = await httpCall({ service: 'slack', url, form, secrets, signal: ctx.signal });
      if (answer.text.trim() !== 'ok') {
        throw new HaliteError('call.failed', `slack refused the message: ${answer.text.slice(0, 200)}`);
      }
    };
    return {
      save: (ret) => send(ret, pyStr(ctx.grains['id'] ?? ctx.id)),
      async saveEvents(events) {
        for (const { tag, data } of events) if (isNews(tag, data)) await send(data, pyStr(data['id']));
      },
    };
  },
});
