// `state.orchestrate`: an orchestration without a master, for states that do not need one.
import { dictEntries, dictGet, fn, isDict, newDict, p, type Value } from 'halite/sdk';

/** Whether every state of a run succeeded. */
function isGood(running: Value): boolean {
  if (!isDict(running)) return false;
  return dictEntries(running).every(([, state]) => !isDict(state) || dictGet(state, 'result') !== false);
}

export const orchestrateFunctions = {
  orchestrate: fn({
    doc: 'Applies states as the orchestrate runner does, on a minion without a master.',
    examples: [
      'salt-call --local state.orchestrate webserver',
      'salt-call --local state.orchestrate webserver test=True',
    ],
    params: {
      mods: p.oneOf(['list', 'string'], { doc: 'SLS names' }),
      saltenv: p.string({ default: 'base', doc: 'their environment' }),
      test: p.scalar({ default: null, doc: 'change nothing' }),
      exclude: p.oneOf(['list', 'dict', 'string'], { default: null, doc: 'leave these out' }),
      pillar: p.dict({ default: null, doc: 'values that override the pillar' }),
      pillarenv: p.string({ default: null, doc: 'the environment of the pillar' }),
    },
    async run({ mods, ...rest }, ctx) {
      const running = await ctx.callWith('state.sls', [mods], newDict(Object.entries(rest)));
      return newDict([
        ['data', newDict([[ctx.id, running]])],
        ['outputter', 'highstate'],
        ['retcode', isGood(running) ? 0 : 1],
      ]);
    },
  }),
};
