// Authentication module `rest`: another service checks name and password, and may answer with rules.
import { asList, defineAuth, HaliteError, p } from 'halite/sdk';
import { loadJson } from 'halite/sdk/codec';
import { httpCall } from '../shared/http/request.ts';
import { checkedUrl } from './shared/checked-url.ts';

const timeoutMs = 10_000;
const mostBytes = 1024 * 1024;

export default defineAuth({
  name: 'rest',
  doc: 'Sends name and password as a form to `^url`; status 200 accepts them. The answer is a list of rules in JSON, or nothing.',
  settings: { url: p.string({ doc: 'the address of the service, with https unless it is this machine' }) },
  open({ url }) {
    const address = checkedUrl('rest: ^url', url);
    return {
      async check({ username, password }) {
        if (username === '') return undefined;
        const { status, text } = await httpCall({
          ...{ service: 'rest', url: address, method: 'POST', form: { username, password } },
          ...{ timeoutMs, maxBytes: mostBytes, secrets: [password] },
        });
        if (status !== 200) return undefined;
        const answer = text.trim() === '' ? null : loadJson(text);
        if (answer === null) return {};
        const rules = asList(answer);
        // An answer of another form must not become rules by chance.
        if (!rules) throw new HaliteError('auth.failed', 'the service accepted it, but its answer is no list of rules');
        return { rules };
      },
    };
  },
});
