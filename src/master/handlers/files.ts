// File server requests; answered from the configured environments.
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { Master } from '../core.ts';
import type { Handlers } from './table.ts';

export function fileHandlers(master: Master): Handlers {
  const envs = (): Value => Object.keys((master.opts as unknown as { file_roots?: PlainDict }).file_roots ?? { base: [] });
  const none = { run: (): Value => [] };
  return {
    _file_envs: { run: envs },
    _file_list: none,
    _file_list_emptydirs: none,
    _dir_list: none,
    _symlink_list: { run: () => newDict() },
    _file_find: { run: () => ({ path: '', rel: '' }) },
    _file_hash: { run: () => newDict() },
    _file_hash_and_stat: { run: () => ['', null] },
    _serve_file: { run: () => ({ data: '', dest: '' }) },
    _file_recv: { run: () => false },
  };
}
