// Requests that schemathesis invents from the OpenAPI document, in the name of a user with few rights and without a token:
// none is an unexpected error, and nothing is published outside the rules. HALITE_API_REQUESTS=50000 sends more.
import { spawn } from 'node:child_process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ApiFleet } from '../support/api.ts';
import { LiveReader, own, ownRoot, rowsOf } from '../support/api-v1.ts';
import { eventually } from '../support/eventually.ts';
import { schemathesis } from '../support/schemathesis.ts';

const program = schemathesis();
const requests = Number(process.env['HALITE_API_REQUESTS'] ?? 400);
const seed = Number(process.env['HALITE_API_SEED'] ?? 20261119);

let api: ApiFleet;
let [ann, fred] = ['', ''];
beforeAll(async () => {
  if (!program) return;
  api = await ApiFleet.start(['login_throttle: False']);
  [ann, fred] = await Promise.all([api.login('ann'), api.login('fred')]);
});
afterAll(async () => {
  await api?.fleet.destroy();
});

/** Streams do not end, and these end the token with which all requests are sent. */
const left = '^/(live|events|session/renew|session)$';

function fuzz(examples: number, ...more: string[]): Promise<{ code: number | null; output: string }> {
  const url = `http://127.0.0.1:${api.port}${ownRoot}`;
  const args = [
    ...['run', `${url}/openapi.json`, '--url', url, '--exclude-path-regex', left, '--seed', String(seed)],
    ...['--checks', 'not_a_server_error,content_type_conformance,response_schema_conformance'],
    ...['--phases', requests > 1_000 ? 'coverage,fuzzing' : 'fuzzing', '--max-examples', String(examples)],
    ...['--request-timeout', '60', '--no-color', '--continue-on-failure', '--no-shrink', '--warnings', 'off'],
    ...['--generation-database', 'none', '--suppress-health-check', 'all', ...more],
  ];
  return new Promise((resolve) => {
    const child = spawn(program ?? '', args, { stdio: ['ignore', 'pipe', 'pipe'], cwd: api.fleet.root });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    child.on('close', (code) => resolve({ code, output }));
  });
}

const as = (token: string): string[] => ['--header', `X-Auth-Token: ${token}`];

it.skipIf(!program)(
  'no request is an unexpected error, and nothing is published outside the rights',
  { timeout: 7_200_000 },
  async () => {
    const paths = Object.keys((await own(api, 'GET', '/openapi.json')).json.paths).length;
    const listener = new LiveReader(api, '/events?tag=salt/job/*/new', ann);
    await eventually('the stream of events', () => listener.text.startsWith('retry'));
    const examples = Math.max(1, Math.floor(requests / paths / 2));
    const runs = [
      await fuzz(Math.max(1, Math.floor(examples / 10))),
      await fuzz(examples, ...as(fred)),
      // Who may do everything only looks: what is invented for the rest would be carried out.
      await fuzz(examples, ...as(ann), '--include-method', 'GET'),
    ];
    for (const { code, output } of runs) expect(code, output).toBe(0);
    const permitted = /^(test\.(ping|echo|version|sleep)|sys\.list_functions|saltutil\.find_job)$/;
    for (const { data } of listener.records) {
      if (data.data.user !== 'fred' || data.data.fun === undefined) continue;
      expect(String(data.data.fun)).toMatch(permitted);
      if (data.data.fun !== 'sys.list_functions') expect(data.data.minions).toEqual(['m1']);
    }
    expect(rowsOf(await own(api, 'GET', '/keys', { token: ann })).map(({ id, state }) => `${id} ${state}`)).toEqual([
      'm1 accepted',
      'm2 accepted',
    ]);
    listener.close();
  },
);
