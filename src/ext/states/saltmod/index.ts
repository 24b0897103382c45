// State module `salt`: acts on minions and on the master itself; the steps of an orchestration.
import { defineState, newDict, p, state, withForecast } from 'halite/sdk';
import { functionFunction } from './function.ts';
import { parallelRunners, runnerFunction, wheelFunction } from './master.ts';
import { masterOf } from './reach.ts';
import { stateFunction } from './state.ts';

const waitForEvent = state({
  doc: 'Waits for events on the master until every identifier was seen.',
  params: {
    name: p.string({ doc: 'the tag, or a glob for it' }),
    id_list: p.list({ doc: 'identifiers to wait for, usually minion ids' }),
    event_id: p.string({ default: 'id', doc: 'the key of the event that has the identifier' }),
    timeout: p.float({ default: 300, doc: 'seconds to wait' }),
    node: p.string({ default: 'master', doc: 'accepted for compatibility: the bus is the master’s' }),
  },
  async run({ name, id_list: values, event_id: field, timeout }, ctx) {
    return withForecast(
      ctx,
      () => ctx.result({ result: null, comment: `Orchestration would wait for event '${name}'` }),
      async () => {
        const started = performance.now();
        const seen = await masterOf(ctx).waitForEvents({ tag: name, field, values, timeoutSeconds: timeout });
        const changes = seen.length > 0 ? newDict([['minions_seen', seen]]) : newDict();
        if (seen.length < values.length) return ctx.fail('Timeout value reached.', { changes });
        return ctx.ok(`All events seen in ${(performance.now() - started) / 1000} seconds.`, { changes });
      },
    );
  },
});

export default defineState({
  name: 'saltmod',
  virtualName: 'salt',
  doc: 'Steps of an orchestration: states, functions, runners and wheel functions, and waiting for events.',
  functions: {
    state: stateFunction,
    function: functionFunction,
    runner: runnerFunction,
    parallel_runners: parallelRunners,
    wheel: wheelFunction,
    wait_for_event: waitForEvent,
  },
});
