// The keys of minions: lists with fingerprints, and decisions about keys whose fingerprints were compared.
import { dictField, textField } from '../../base/codec/fields.ts';
import { dictGet, isTexts, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import { isValidMinionId } from '../../base/util/valid-id.ts';
import type { KeyServices, KeyState } from '../../extend/sdk/index.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import type { KeyStore } from '../../store/keys.ts';
import type { Authorization, Caller } from '../authorization/authorization.ts';
import type { ViewRights } from '../authorization/view-rights.ts';
import { wrongChoice } from './job-view.ts';
import { pageValue, readPage, sortOf, sortRows, wordsOf } from './page.ts';
import { followChanges, pause } from './watch.ts';

export interface KeyViewParts {
  readonly authorization: Pick<Authorization, 'authorizeFunction'>;
  readonly keys: Pick<KeyStore, 'ids' | 'readText' | 'statesOf'>;
  readonly services: KeyServices;
  readonly bus: Pick<EventBus, 'subscribe'>;
}

const states: readonly KeyState[] = ['pending', 'accepted', 'rejected', 'denied'];
const cols = ['id', 'state', 'fingerprint', 'other'];

const seesList = (rights: ViewRights): boolean => rights.mayCall('wheel', 'key.list_all');

function refuseUnseen(rights: ViewRights): void {
  if (!seesList(rights))
    throw new HaliteError('auth.denied', 'You may not see the keys.', {
      hint: 'It needs the wheel function key.list_all; for fingerprints also key.finger.',
    });
}

export function keyPage(parts: KeyViewParts, rights: ViewRights, args: PlainDict): PlainDict {
  refuseUnseen(rights);
  const request = readPage(args);
  const wanted = textField(args, 'state') ?? '';
  const words = wordsOf(request.q);
  const rows = states
    .filter((state) => wanted === '' || state === wanted)
    .flatMap((state) => parts.keys.ids(state).map((id) => ({ id, state })))
    .filter(({ id, state }) => words.every((word) => `${id} ${state}`.toLowerCase().includes(word)));
  const { column, down } = sortOf(request.sort, cols.slice(0, 2));
  sortRows(
    rows,
    ({ id, state }) => (column === 1 ? state : id),
    ({ id }) => id,
    down,
  );
  const print = printer(parts, rights.mayCall('wheel', 'key.finger'));
  return pageValue({
    ...{ total: rows.length, offset: request.offset, cols, version: 0 },
    rows: rows
      .slice(request.offset, request.offset + request.limit)
      // Of a denied key it matters which one was accepted.
      .map(({ id, state }) => [id, state, print(state, id), state === 'denied' ? print('accepted', id) : null]),
  });
}

function printer({ keys, services }: KeyViewParts, permitted: boolean) {
  return (state: KeyState, id: string): string | null => {
    const pem = permitted ? keys.readText(state, id) : undefined;
    if (pem === undefined) return null;
    try {
      return services.fingerprint(pem);
    } catch {
      return null;
    }
  };
}

const acts = { accept: 'key.accept', reject: 'key.reject', delete: 'key.delete' } as const;
type Act = keyof typeof acts;
const isAct = (text: string): text is Act => Object.hasOwn(acts, text);
const mostIds = 10_000;

/** What was decided for which key; a key that is not the one that was shown stays as it is. */
export async function changeKeys(parts: KeyViewParts, caller: Caller, args: PlainDict): Promise<PlainDict> {
  const act = textField(args, 'act') ?? '';
  if (!isAct(act)) throw wrongChoice('The decision', Object.keys(acts));
  const ids = dictGet(args, 'ids');
  if (!isTexts(ids) || ids.length === 0 || ids.length > mostIds)
    throw new HaliteError('call.arguments', `The ids must be a list of 1 to ${mostIds} texts.`);
  for (const id of ids) permit(parts, caller, acts[act], id);
  const prints = dictField(args, 'fingerprints') ?? newDict();
  const [done, refused] = [[] as string[], newDict()];
  for (const id of new Set(ids)) {
    const why = await decide(parts, act, id, dictGet(prints, id)).catch(messageOf);
    if (why === undefined) done.push(id);
    else refused[id] = why;
  }
  return newDict([
    ['done', done],
    ['refused', refused],
  ]);
}

/** A rule may limit the argument by its position or by its name. */
function permit({ authorization }: KeyViewParts, caller: Caller, fun: string, id: string): void {
  try {
    authorization.authorizeFunction(caller, 'wheel', { fun, args: [id], kwargs: newDict() });
  } catch {
    authorization.authorizeFunction(caller, 'wheel', { fun, args: [], kwargs: newDict([['match', id]]) });
  }
}

/** Why nothing was done; undefined when it was. */
async function decide(
  { keys, services }: KeyViewParts,
  act: Act,
  id: string,
  shown: Value | undefined,
): Promise<string | undefined> {
  if (!isValidMinionId(id)) return 'this is no id of a minion';
  const from = sources[act].filter((state) => keys.statesOf(id).includes(state));
  if (from.length === 0) return 'there is no such key';
  // Somebody else may have sent another key of this id meanwhile.
  const known = from.filter((state) => services.fingerprint(keys.readText(state, id) ?? '') === shown);
  if (act === 'accept' || shown !== undefined) {
    if (typeof shown !== 'string') return 'its fingerprint is needed: compare it before you accept the key';
    if (known.length === 0) return 'its fingerprint is another one';
  }
  const moved = known.length > 0 ? known : from;
  if (act === 'accept') await services.accept([id], moved);
  else if (act === 'reject') await services.reject([id], moved);
  else await services.remove([id]);
  return undefined;
}

const sources: Readonly<Record<Act, readonly KeyState[]>> = {
  accept: ['pending', 'rejected', 'denied'],
  reject: ['pending', 'accepted', 'denied'],
  delete: states,
};

const keyPauseMs = 250;
/** Other programs change the folders, too. */
const lookEveryMs = 1_000;

export async function* watchKeys(
  parts: KeyViewParts,
  rightsNow: () => Promise<ViewRights>,
  signal: AbortSignal,
): AsyncIterable<Value> {
  const changes = followChanges((changed) => parts.bus.subscribe('salt/key', changed), signal, lookEveryMs);
  let before: readonly (readonly string[])[] = [];
  let version = 0;
  try {
    while (!signal.aborted) {
      refuseUnseen(await rightsNow());
      const lists = states.map((state) => parts.keys.ids(state));
      if (lists.some((list, at) => list !== before[at])) {
        before = lists;
        const counts = newDict(states.map((state, at) => [state, lists[at]?.length ?? 0]));
        yield newDict([
          ['type', 'keys'],
          ['version', ++version],
          ['counts', counts],
        ]);
      }
      await pause(keyPauseMs, 0, signal);
      await changes.next();
    }
  } finally {
    changes.close();
  }
}

/** How many keys there are in each state. */
export const keyCounts = ({ keys }: Pick<KeyViewParts, 'keys'>): Record<string, number> =>
  Object.fromEntries(states.map((state) => [state, keys.ids(state).length]));
