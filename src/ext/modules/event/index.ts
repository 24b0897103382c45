// Execution module `event`: sends events to the master or to this minion.
import {
  type Dict,
  defineModule,
  dictEntries,
  dictOf,
  fn,
  isDict,
  isTruthy,
  type ModuleContext,
  type PlainDict,
  p,
  type Value,
} from 'halite/sdk';

/** True when this call may not or cannot send to a master. */
function isLocal(ctx: ModuleContext): boolean {
  const local =
    ctx.opts['local'] === true || ctx.opts['file_client'] === 'local' || ctx.opts['master_type'] === 'disable';
  return local && ctx.opts['use_master_when_local'] !== true;
}

async function fireMaster(tag: string, data: Dict, preload: Value, ctx: ModuleContext): Promise<boolean> {
  if (isLocal(ctx)) {
    ctx.log.warn('Local mode detected. Event will NOT be sent.', { tag });
    return false;
  }
  if (!isDict(preload)) return ctx.minion.fire(tag, data);
  // A preload changes the message itself (for example the id), which only a direct request can carry.
  const load = dictOf([
    ['cmd', '_minion_event'],
    ['id', ctx.id],
    ['tag', tag],
    ['data', data],
    ...dictEntries(preload),
  ]);
  await ctx.minion.masterRequest(load as PlainDict);
  return true;
}

const subset = (wanted: Value, all: Dict): Dict =>
  Array.isArray(wanted) ? dictOf(dictEntries(all).filter(([key]) => wanted.includes(key))) : all;

const eventData = (data: Value): Dict => (isDict(data) ? data : dictOf([['data', data]]));

export default defineModule({
  name: 'event',
  doc: 'Sends events.',
  functions: {
    send: fn({
      doc: 'Sends an event to the master. Keyword arguments become part of its data.',
      examples: [
        'salt-call event.send myco/mytag foo=Foo bar=Bar',
        "salt-call event.send 'myco/mytag' '{foo: Foo, bar: Bar}'",
        'salt-call event.send myco/build/success with_grains=[id,os] with_env=[GIT_COMMIT,GIT_BRANCH]',
      ],
      params: {
        tag: p.string({ doc: 'name of the event' }),
        data: p.dict({ default: null, falsy: null, doc: 'dictionary sent with it' }),
        preload: p.dict({ default: null, falsy: null, doc: 'dictionary that changes the message itself' }),
        with_env: p.oneOf(['bool', 'list', 'string'], {
          default: false,
          falsy: null,
          doc: 'add environment variables: all, or a list of names',
        }),
        with_grains: p.oneOf(['bool', 'list', 'string'], {
          default: false,
          falsy: null,
          doc: 'add grains: all, or a list of names',
        }),
        with_pillar: p.oneOf(['bool', 'list', 'string'], {
          default: false,
          falsy: null,
          doc: 'add pillar: all, or a list of keys',
        }),
        with_env_opts: p.truthy({ default: false, doc: 'add saltenv and pillarenv' }),
        kwargs: p.kwargs(),
      },
      async run(args, ctx) {
        const entries: [Value, Value][] = [];
        const env = dictOf(Object.entries(process.env).map(([key, value]) => [key, value ?? '']));
        if (isTruthy(args.with_env)) entries.push(['environ', subset(args.with_env, env)]);
        if (isTruthy(args.with_grains)) entries.push(['grains', subset(args.with_grains, ctx.grains)]);
        if (isTruthy(args.with_pillar)) entries.push(['pillar', subset(args.with_pillar, ctx.pillar)]);
        if (args.with_env_opts) {
          entries.push(['saltenv', ctx.opts['saltenv'] ?? 'base'], ['pillarenv', ctx.opts['pillarenv'] ?? null]);
        }
        entries.push(...Object.entries(args.kwargs));
        if (isDict(args.data)) entries.push(...dictEntries(args.data));
        return fireMaster(args.tag, dictOf(entries), args.preload, ctx);
      },
    }),
    fire_master: fn({
      doc: 'Sends an event with the given data to the master.',
      examples: [`salt '*' event.fire_master '{"data":"my event data"}' 'tag'`],
      params: {
        data: p.any({ doc: 'data of the event, of any kind' }),
        tag: p.string(),
        preload: p.dict({ default: null, falsy: null }),
      },
      run: ({ data, tag, preload }, ctx) => fireMaster(tag, eventData(data), preload, ctx),
    }),
    fire: fn({
      doc: 'Fires an event on this minion’s own bus.',
      examples: [`salt '*' event.fire '{"data":"my event data"}' 'tag'`],
      params: { data: p.any({ doc: 'data of the event, of any kind' }), tag: p.string() },
      async run({ data, tag }, ctx) {
        // Without a daemon there is no event bus.
        if (isLocal(ctx)) return false;
        return ctx.minion.fire(tag, eventData(data));
      },
    }),
  },
});
