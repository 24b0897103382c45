// Runner `reactor`: which events are reacted to, and how that goes.
import { defineRunner, HaliteError, type MasterContext, masterFn, newDict, p, type Value } from 'halite/sdk';

const compatibility = {
  saltenv: p.string({ default: 'base', doc: 'accepted for compatibility' }),
  test: p.ignored({ default: null, doc: 'accepted for compatibility' }),
};

/** Salt reacts to events only when the configuration says so. */
function running(ctx: MasterContext): MasterContext['master']['reactor'] {
  const { reactor, engines } = ctx.opts;
  const filled = (value: Value | undefined): boolean =>
    typeof value === 'string' ? value !== '' : Array.isArray(value) && value.length > 0;
  const asEngine = JSON.stringify(engines ?? null).includes('"reactor"');
  if (filled(reactor) || asEngine) return ctx.master.reactor;
  throw new HaliteError('call.failed', 'Reactor system is not running.', {
    hint: 'Write a reactor section, or engines: [reactor], into the master configuration.',
  });
}

const answer = (status: boolean, comment: string): Value =>
  newDict([
    ['status', status],
    ['comment', comment],
  ]);

export default defineRunner({
  name: 'reactor',
  doc: 'Reactions to events: which there are, new ones, and how many were carried out.',
  functions: {
    list: masterFn({
      doc: 'Gives the tags of events and the files that are rendered for them.',
      examples: ['salt-run reactor.list'],
      params: compatibility,
      run: (_args, ctx) => running(ctx).list(),
    }),
    add: masterFn({
      doc: 'Adds reactions to a kind of event, until the master is started again.',
      examples: ["salt-run reactor.add 'salt/cloud/*/destroyed' reactors='/srv/reactor/destroy/*.sls'"],
      params: {
        event: p.text({ doc: 'the tag; may be a glob' }),
        reactors: p.oneOf(['string', 'list'], { doc: 'the file or files to render' }),
        ...compatibility,
      },
      run({ event, reactors }, ctx) {
        const files = Array.isArray(reactors) ? reactors.map(String) : [String(reactors)];
        const added = running(ctx).add(event, files);
        return answer(added, added ? 'Reactor added.' : 'Reactor already exists.');
      },
    }),
    delete: masterFn({
      doc: 'Takes the reactions to a kind of event away, until the master is started again.',
      examples: ["salt-run reactor.delete 'salt/cloud/*/destroyed'"],
      params: { event: p.text({ doc: 'the tag, as it is listed' }), ...compatibility },
      run({ event }, ctx) {
        const deleted = running(ctx).delete(event);
        return answer(deleted, deleted ? 'Reactor deleted.' : 'Reactor does not exists.');
      },
    }),
    is_leader: masterFn({
      doc: 'Whether this master reacts to events.',
      examples: ['salt-run reactor.is_leader'],
      params: {},
      run: (_args, ctx) => running(ctx).leader,
    }),
    set_leader: masterFn({
      doc: 'Lets this master react to events, or not.',
      examples: ['salt-run reactor.set_leader True'],
      params: { value: p.bool({ default: true, doc: 'whether it reacts' }) },
      run({ value }, ctx) {
        const reactor = running(ctx);
        reactor.leader = value;
        return reactor.leader;
      },
    }),
    status: masterFn({
      doc: 'Counts events that were reacted to, reactions carried out, failed and left out, and shows the last error.',
      examples: ['salt-run reactor.status'],
      params: {},
      run: (_args, ctx) => ctx.master.reactor.status(),
    }),
  },
});
