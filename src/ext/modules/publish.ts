// Execution module `publish`: jobs and runners that a minion requests from the master (allowed by `peer` and `peer_run`).
import { setTimeout as pause } from 'node:timers/promises';
import {
  type ArgsOf,
  defineModule,
  dictGet,
  fn,
  isDict,
  isTruthy,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  type Value,
} from 'halite/sdk';

const askAgainMs = 200;

const params = {
  tgt: p.oneOf(['string', 'list'], { doc: 'the minions' }),
  fun: p.text({ doc: 'the function' }),
  arg: p.any({ default: null, doc: 'its argument, or a list of them' }),
  tgt_type: p.string({ default: 'glob', doc: 'how to read the target' }),
  returner: p.string({ default: '', doc: 'returners for the results' }),
  timeout: p.float({ default: 5, doc: 'how long to wait for results, in seconds' }),
};

type Request = ArgsOf<typeof params>;

const argumentList = (arg: Value): Value[] => (arg === null ? [] : Array.isArray(arg) ? arg : [arg]);

const noMaster = 'No access to master. If using salt-call with --local, please remove.';

const requestTo = (ctx: ModuleContext, cmd: string, fields: PlainDict): Promise<Value> =>
  ctx.minion.masterRequest(newDict([['cmd', cmd], ['id', ctx.id], ['no_parse', []], ...Object.entries(fields)]));

/** Publishes and collects results until all minions have answered or the timeout is reached. */
async function publish(request: Request, form: 'clean' | 'full', ctx: ModuleContext): Promise<Value> {
  if (!ctx.minion.hasMaster) {
    ctx.log.error('Cannot run publish commands without a connection to a salt master. No command sent.');
    return newDict();
  }
  const { tgt, fun, tgt_type, returner: ret, timeout } = request;
  if (fun === 'publish.publish') {
    ctx.log.info('publish.publish is not published');
    return newDict();
  }
  const arg = argumentList(request.arg);
  const job = await requestTo(
    ctx,
    'minion_pub',
    newDict(Object.entries({ fun, arg, tgt, tgt_type, ret, tmo: timeout, form })),
  );
  if (!isDict(job) || !isTruthy(dictGet(job, 'jid'))) return newDict();
  const expected = dictGet(job, 'minions');
  const enough = Array.isArray(expected) ? expected.length : 0;
  const end = Date.now() + timeout * 1000;
  for (;;) {
    const found = await requestTo(ctx, 'pub_ret', newDict([['jid', dictGet(job, 'jid') ?? '']]));
    const results = isDict(found) && !(found instanceof Map) ? found : newDict();
    if (Object.keys(results).length >= enough || Date.now() >= end) return form === 'full' ? results : bare(results);
    await pause(askAgainMs, undefined, { signal: ctx.signal });
  }
}

const bare = (results: PlainDict): PlainDict =>
  newDict(
    Object.entries(results).map(([id, result]) => [id, isDict(result) ? (dictGet(result, 'ret') ?? null) : result]),
  );

export default defineModule({
  name: 'publish',
  doc: 'Requests jobs and runners from the master.',
  functions: {
    publish: fn({
      doc: 'Runs a function on other minions and returns their results. The option `peer` of the master must allow it.',
      examples: [
        "salt web1 publish.publish '*' test.ping",
        "salt web1 publish.publish 'G@role:db' test.ping tgt_type=compound",
      ],
      params: {
        ...params,
        via_master: p.string({ default: null, doc: 'accepted; the request goes to the master that sent the job' }),
      },
      run: (args, ctx) => publish(args, 'clean', ctx),
    }),
    full_data: fn({
      doc: 'The same, with each result in its own map.',
      examples: ["salt web1 publish.full_data '*' test.ping"],
      params,
      run: (args, ctx) => publish(args, 'full', ctx),
    }),
    runner: fn({
      doc: 'Runs a runner on the master and returns its result. The option `peer_run` of the master must allow it.',
      examples: ['salt web1 publish.runner manage.down'],
      params: {
        fun: p.text({ doc: 'the runner function' }),
        arg: p.any({ default: null, doc: 'its argument, or a list of them' }),
        timeout: p.float({ default: 5, doc: 'accepted' }),
      },
      async run({ fun, arg, timeout }, ctx) {
        if (!ctx.minion.hasMaster) return noMaster;
        return requestTo(ctx, 'minion_runner', newDict(Object.entries({ fun, arg: argumentList(arg), tmo: timeout })));
      },
    }),
  },
});
