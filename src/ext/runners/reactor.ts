// Runner `reactor`: rules and status of the reactor.
import { defineRunner, HaliteError, type MasterContext, masterFn, newDict, p, type Value } from 'halite/sdk';

const compatibility = {
  saltenv: p.string({ default: 'base', doc: 'accepted for compatibility' }),
  test: p.ignored({ default: null, doc: 'accepted for compatibility' }),
};

/** As in Salt, the reactor works only when it is configured. */
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
  doc: 'The reactor: its rules and status.',
  functions: {
    list: masterFn({
      doc: 'The tags of events and the files that are rendered for them.',
      examples: ['salt-run reactor.list'],
      params: compatibility,
      run: (_args, ctx) => running(ctx).list(),
    }),
    add: masterFn({
      doc: 'Adds reactions to events with a tag, until the master is restarted.',
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
      doc: 'Removes the reactions to events with a tag, until the master is restarted.',
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
      doc: 'Enables or disables the reactor of this master.',
      examples: ['salt-run reactor.set_leader True'],
      params: { value: p.bool({ default: true, doc: 'whether it reacts' }) },
      run({ value }, ctx) {
        const reactor = running(ctx);
        reactor.leader = value;
        return reactor.leader;
      },
    }),
    status: masterFn({
      doc: 'Counts matched events and reactions that succeeded, failed or were dropped, and shows the last error.',
      examples: ['salt-run reactor.status'],
      params: {},
      run: (_args, ctx) => ctx.master.reactor.status(),
    }),
  },
});
