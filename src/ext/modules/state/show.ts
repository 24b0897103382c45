// Functions of `state` that show what would be applied.
import {
  type CompiledStates,
  fn,
  invocationError,
  isDict,
  type ModuleContext,
  type PlainDict,
  p,
  type StateRun,
  type Value,
} from 'halite/sdk';
import { exitCodes } from 'halite/sdk/jobs';
import { finish } from './apply.ts';
import { namesOf, openRun, requirePillar } from './open.ts';
import { refuseConflict } from './queue.ts';

const mods = p.oneOf(['list', 'string'], { doc: 'SLS names, in a list or separated by commas' });
const test = p.scalar({ default: null, doc: 'as for state.apply' });
const queue = p.oneOf(['bool', 'int', 'string'], { default: null, doc: 'True waits for a run in progress' });
const kwargs = p.kwargs({ doc: '`pillar`, `saltenv`, `pillarenv`, `concurrent`, `localconfig` as for state.apply' });

interface Asked {
  readonly queue: Value;
  readonly kwargs: PlainDict;
  readonly test?: Value;
}

/** Opens a run that only shows data; fails when a run is in progress or the pillar has errors. */
async function looking(
  args: Asked,
  ctx: ModuleContext,
  needsEnvironment: boolean,
  look: (run: StateRun) => Promise<Value>,
): Promise<Value> {
  const conflict = await refuseConflict(args.queue, args.kwargs, ctx);
  if (conflict !== undefined) return conflict;
  const run = await openRun(args.kwargs, ctx, {
    needsEnvironment,
    ...(args.test === undefined ? {} : { test: args.test }),
  });
  requirePillar(run, args.kwargs);
  return look(run);
}

const slsParams = { mods, test, queue, kwargs };
const topParams = { queue, kwargs };

const ofTop = {
  show_top: fn({
    doc: 'What the top file assigns to this minion: SLS names by environment.',
    examples: ["salt '*' state.show_top"],
    params: topParams,
    run: (args, ctx) => looking(args, ctx, false, async (run) => finish(await run.show.top(), ctx)),
  }),
  show_highstate: fn({
    doc: 'The high data of everything the top file assigns to this minion.',
    examples: ["salt '*' state.show_highstate"],
    params: topParams,
    inOrder: true,
    run: (args, ctx) => looking(args, ctx, false, async (run) => finish(await run.show.highstate(), ctx)),
  }),
  show_lowstate: fn({
    doc: 'The low data of everything the top file assigns to this minion, in order of execution.',
    examples: ["salt '*' state.show_lowstate"],
    params: topParams,
    run: (args, ctx) => looking(args, ctx, false, async (run) => shownLow(await run.show.lowstate())),
  }),
  show_states: fn({
    doc: 'The SLS files that a highstate would apply.',
    examples: ["salt '*' state.show_states"],
    params: topParams,
    run: (args, ctx) =>
      looking(args, ctx, false, async (run) => {
        const low = await run.show.lowstate();
        if (low.kind === 'errors') {
          ctx.setRetcode(exitCodes.stateCompilerError);
          return low.errors;
        }
        return [...new Set(low.chunks.map((chunk) => chunk['__sls__'] ?? null))];
      }),
  }),
  show_state_usage: fn({
    doc: 'Which SLS files of the tree this minion uses, and which not.',
    examples: ["salt '*' state.show_state_usage"],
    params: topParams,
    run: (args, ctx) => looking(args, ctx, false, async (run) => finish(await run.show.usage(), ctx)),
  }),
};

const shownLow = (low: CompiledStates): Value => (low.kind === 'errors' ? low.errors : low.chunks);

const ofSls = {
  show_sls: fn({
    doc: 'The high data of SLS files.',
    examples: ["salt '*' state.show_sls core,edit.vim saltenv=dev"],
    params: slsParams,
    inOrder: true,
    run: (args, ctx) => looking(args, ctx, true, async (run) => finish(await run.show.sls(namesOf(args.mods)), ctx)),
  }),
  show_low_sls: fn({
    doc: 'The low data of SLS files.',
    examples: ["salt '*' state.show_low_sls foo saltenv=dev"],
    params: slsParams,
    run: (args, ctx) =>
      looking(args, ctx, true, async (run) => {
        const low = await run.show.lowSls(namesOf(args.mods));
        ctx.setRetcode(low.kind === 'errors' ? exitCodes.stateCompilerError : 0);
        return shownLow(low);
      }),
  }),
  sls_exists: fn({
    doc: 'Whether SLS files exist and can be compiled.',
    examples: ["salt '*' state.sls_exists core,edit.vim saltenv=dev"],
    params: slsParams,
    async run(args, ctx) {
      const shown = await looking(args, ctx, true, async (run) => finish(await run.show.sls(namesOf(args.mods)), ctx));
      return isDict(shown);
    },
  }),
  id_exists: fn({
    doc: 'Whether SLS files declare all of these ids.',
    examples: ["salt '*' state.id_exists create_myfile,update_template filestate saltenv=dev"],
    params: { ids: p.oneOf(['list', 'string'], { doc: 'ids, in a list or separated by commas' }), ...slsParams },
    async run(args, ctx) {
      const found = await looking(args, ctx, true, async (run) => {
        const low = await run.show.lowSls(namesOf(args.mods));
        ctx.setRetcode(low.kind === 'errors' ? exitCodes.stateCompilerError : 0);
        if (low.kind === 'errors') return false;
        const known = new Set(low.chunks.map((chunk) => chunk['__id__'] ?? null));
        return namesOf(args.ids).every((id) => known.has(id));
      });
      return found === true;
    },
  }),
  graph: fn({
    doc: 'The states and their requisites, as a graph.',
    examples: [
      'salt-call state.graph nginx > nginx.dot',
      'salt-call --out=newline_values_only state.graph format=svg > all.svg',
    ],
    params: {
      mods: p.oneOf(['list', 'string'], { default: null, doc: 'SLS names; all of the top file when not given' }),
      format: p.string({ default: 'dot', doc: '`dot` for Graphviz, or `svg`' }),
      queue,
      kwargs,
    },
    outputter: 'txt',
    async run(args, ctx) {
      const { format } = args;
      if (format !== 'dot' && format !== 'svg') throw invocationError(`format must be dot or svg, not ${format}`);
      const names = args.mods === null ? undefined : namesOf(args.mods);
      return looking(args, ctx, names !== undefined, async (run) => finish(await run.show.graph(names, format), ctx));
    },
  }),
};

export const showFunctions = { ...ofTop, ...ofSls };
