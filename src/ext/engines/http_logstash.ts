// Engine `http_logstash`: events as JSON to an HTTP address.
import { defineEngine, p } from 'halite/sdk';
import { httpCall } from '../shared/http/request.ts';
import { persistently, toLine, wantedEvents, whichEvents } from './shared/events.ts';

export default defineEngine({
  name: 'http_logstash',
  doc: 'Posts the data of events as JSON, to Logstash or anything else that takes it.',
  examples: ['engines:\n  - http_logstash:\n      url: http://logs.example.com/salt\n      tags: [salt/job/*/ret/*]'],
  params: {
    url: p.string({ doc: 'The address.' }),
    funs: whichEvents.funs,
    tags: whichEvents.tags,
  },
  async start({ url, funs, tags }, ctx) {
    for await (const { data } of wantedEvents({ tags, funs }, ctx))
      await persistently('logstash', ctx, () =>
        httpCall({ service: 'logstash', url, method: 'POST', json: toLine(data), signal: ctx.signal }),
      );
  },
});
