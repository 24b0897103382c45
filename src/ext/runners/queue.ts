// Runner `queue`: queues of items and runner calls on the master.
import {
  asList,
  defineRunner,
  dictGet,
  dictOf,
  fieldOf,
  HaliteError,
  isDict,
  type MasterContext,
  masterFn,
  messageOf,
  newDict,
  p,
  pyInt,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { deleteItems, insertItems, listItems, listQueues, popItems, readItem } from './shared/sqlite-queue.ts';

const queue = p.text({ doc: 'the queue' });
const backend = p.text({ default: 'sqlite', doc: 'the backend of queues; only sqlite' });
const items = p.any({ doc: 'one item, or a list of them' });
const quantity = p.oneOf(['int', 'string'], { default: 1, nullable: true, doc: 'how many, or all' });
const is_runner = p.bool({ default: false, doc: 'items are calls of runners' });

/** The folder of the queues, if the backend is supported. */
function folderOf(ctx: MasterContext, name: string, fun: string): string {
  if (name !== 'sqlite') throw new HaliteError('call.arguments', `Function "${name}.${fun}" is not available`);
  return String(ctx.opts['sqlite_queue_dir']);
}

function countOf(quantity: Value): number {
  if (quantity === 'all') return -1;
  try {
    return pyInt(quantity);
  } catch (error) {
    throw new HaliteError('call.arguments', `Quantity must be an integer or "all".\nError: "${messageOf(error)}".`);
  }
}

async function pop(ctx: MasterContext, from: string, where: string, many: Value, calls: boolean): Promise<Value[]> {
  const count = countOf(many);
  const found = await popItems(folderOf(ctx, where, 'pop'), from, count);
  return calls ? found.map(readItem) : found;
}

/** Removes items from a queue and fires them as events; false for invalid arguments. */
async function process(ctx: MasterContext, from: string, where: string, many: Value, calls: boolean): Promise<Value> {
  try {
    const data = dictOf([
      ['items', await pop(ctx, from, where, many, calls)],
      ['backend', where],
      ['queue', from],
    ]);
    await ctx.master.fire(`salt/queue/${from}/process`, data);
    return data;
  } catch (error) {
    if (!(error instanceof HaliteError) || error.code !== 'call.arguments') throw error;
    ctx.progress(error.message);
    return false;
  }
}

/** Queue and backend for calls of runners: given, or those of `runner_queue`. */
function runnerQueue(ctx: MasterContext, from: string | null, where: string | null): { from: string; where: string } {
  const configured = ctx.opts['runner_queue'] ?? newDict();
  const option = (name: string): Value | undefined => fieldOf(configured, name);
  const named = from ?? option('queue');
  if (typeof named !== 'string')
    throw new HaliteError('call.arguments', 'Name a queue, or set runner_queue: {queue: …} in the configuration');
  return { from: named, where: where ?? String(option('backend') ?? 'sqlite') };
}

const runnerParams = {
  queue: p.string({ default: null, doc: 'the queue; else that of runner_queue' }),
  backend: p.string({ default: null, doc: 'the backend of queues; only sqlite' }),
};

const runners = {
  insert_runner: masterFn({
    doc: 'Adds the call of a runner to a queue, for queue.process_runner.',
    examples: [
      'salt-run queue.insert_runner test.stdout_print queue=later',
      'salt-run queue.insert_runner event.send my/tag kwargs=\'{"data": {"foo": "bar"}}\' queue=later',
    ],
    params: {
      fun: p.text({ doc: 'the runner function' }),
      args: p.oneOf(['list', 'string'], { default: null, doc: 'its arguments: a list, or text separated by commas' }),
      kwargs: p.dict({ default: null, doc: 'its named arguments' }),
      ...runnerParams,
    },
    run({ fun, args, kwargs, queue: named, backend: kept }, ctx) {
      const { from, where } = runnerQueue(ctx, named, kept);
      const list = typeof args === 'string' ? args.split(',') : (args ?? []);
      const call = dictOf([
        ['fun', fun],
        ['args', list],
        ['kwargs', kwargs ?? newDict()],
      ]);
      return insertItems(folderOf(ctx, where, 'insert'), from, call);
    },
  }),
  process_runner: masterFn({
    doc: 'Removes calls of runners from a queue and runs them.',
    examples: ['salt-run queue.process_runner queue=later', 'salt-run queue.process_runner 5 queue=later'],
    params: { quantity, ...runnerParams },
    async run({ quantity: many, queue: named, backend: kept }, ctx) {
      const { from, where } = runnerQueue(ctx, named, kept);
      const data = await process(ctx, from, where, many, true);
      const calls = isDict(data) ? dictGet(data, 'items') : [];
      for (const call of asList(calls) ?? []) {
        if (!isDict(call)) continue;
        const args = dictGet(call, 'args');
        await ctx.callWith(String(dictGet(call, 'fun')), asList(args) ?? [], textKeyed(dictGet(call, 'kwargs')));
      }
      return null;
    },
  }),
};

export default defineRunner({
  name: 'queue',
  doc: 'Queues on the master: items wait there until they are removed or processed.',
  functions: {
    insert: masterFn({
      doc: 'Adds items to a queue. Each item exists once.',
      examples: ['salt-run queue.insert myqueue myitem', "salt-run queue.insert myqueue \"['item1', 'item2']\""],
      params: { queue, items, backend },
      run: ({ queue: name, items: given, backend: kept }, ctx) =>
        insertItems(folderOf(ctx, kept, 'insert'), name, given),
    }),
    delete: masterFn({
      doc: 'Removes items from a queue.',
      examples: ['salt-run queue.delete myqueue myitem', "salt-run queue.delete myqueue \"['item1', 'item2']\""],
      params: { queue, items, backend },
      run: ({ queue: name, items: given, backend: kept }, ctx) =>
        deleteItems(folderOf(ctx, kept, 'delete'), name, given),
    }),
    list_queues: masterFn({
      doc: 'Names of all queues.',
      examples: ['salt-run queue.list_queues'],
      params: { backend },
      run: ({ backend: kept }, ctx) => listQueues(folderOf(ctx, kept, 'list_queues')),
    }),
    list_length: masterFn({
      doc: 'The number of items in a queue.',
      examples: ['salt-run queue.list_length myqueue'],
      params: { queue, backend },
      run: async ({ queue: name, backend: kept }, ctx) =>
        (await listItems(folderOf(ctx, kept, 'list_length'), name)).length,
    }),
    list_items: masterFn({
      doc: 'The items of a queue, oldest first.',
      examples: ['salt-run queue.list_items myqueue'],
      params: { queue, backend },
      run: ({ queue: name, backend: kept }, ctx) => listItems(folderOf(ctx, kept, 'list_items'), name),
    }),
    pop: masterFn({
      doc: 'Removes and returns items of a queue, the oldest first.',
      examples: ['salt-run queue.pop myqueue', 'salt-run queue.pop myqueue 6', 'salt-run queue.pop myqueue all'],
      params: { queue, quantity, backend, is_runner },
      run: ({ queue: name, quantity: many, backend: kept, is_runner: calls }, ctx) => pop(ctx, name, kept, many, calls),
    }),
    process_queue: masterFn({
      doc: 'Removes items from a queue and fires the event salt/queue/<queue>/process with them.',
      examples: ['salt-run queue.process_queue myqueue', 'salt-run queue.process_queue myqueue all'],
      params: { queue, quantity, backend, is_runner },
      run: ({ queue: name, quantity: many, backend: kept, is_runner: calls }, ctx) =>
        process(ctx, name, kept, many, calls),
    }),
    ...runners,
  },
});
