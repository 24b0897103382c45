// The top file of one run: read, merged, and matched against this minion.
import { isTruthy, pyStr } from '../../../base/codec/python/index.ts';
import { asDict, type Dict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import { type ExtensionLog, type MinionServices, RenderError } from '../../../extend/sdk/index.ts';
import { matches as matchesTarget, parseTarget } from '../../../protocol/target/index.ts';
import { masterTops } from '../run-options.ts';
import type { AvailableStates } from '../sls/available.ts';
import type { SlsRenderer, StateFiles } from '../sources.ts';
import { gatherTops, type Tops } from './gather.ts';
import { matchTop } from './match.ts';
import { mergeTops, type Top } from './merge.ts';
import { verifyTop } from './verify.ts';

export interface TopParts {
  readonly id: string;
  readonly minion: MinionServices;
  /** The run's view of the minion. */
  readonly session: {
    readonly opts: Readonly<Record<string, Value>>;
    readonly grains: Dict;
    readonly pillar: Dict;
    readonly log: ExtensionLog;
  };
  readonly files: StateFiles;
  readonly renderer: SlsRenderer;
  readonly available: AvailableStates;
  envs(): Promise<readonly string[]>;
}

export class TopReader {
  readonly #parts: TopParts;

  constructor(parts: TopParts) {
    this.#parts = parts;
  }

  /** All top files merged. One that cannot be rendered is skipped and logged. */
  async read(context?: PlainDict): Promise<Top> {
    const { session, files, renderer, available, envs } = this.#parts;
    let tops: Tops;
    try {
      tops = await gatherTops({ files, renderer, available, opts: session.opts, envs }, context);
    } catch (thrown) {
      if (!(thrown instanceof RenderError) || thrown.pyType !== 'SaltRenderError') throw thrown;
      session.log.error(`Unable to render top file: ${thrown.located}`);
      return new Map();
    }
    return mergeTops(tops, {
      strategy: session.opts['top_file_merging_strategy'] ?? 'merge',
      defaultTop: session.opts['default_top'],
      log: session.log,
    });
  }

  verify(top: Top): string[] {
    return verifyTop(top);
  }

  /** Environment → SLS names for this minion. */
  async matches(top: Top): Promise<Map<string, string[]>> {
    const { session, available, id, minion } = this.#parts;
    const { opts } = session;
    return matchTop(top, {
      saltenv: isTruthy(opts['saltenv'] ?? null) ? pyStr(opts['saltenv']) : undefined,
      matches: (expression, kind) => this.#matches(expression, kind),
      hasEnvironment: (saltenv) => available.has(saltenv),
      masterTops: await masterTops(opts, id, session.grains, minion),
      masterTopsFirst: isTruthy(opts['master_tops_first'] ?? false),
    });
  }

  #matches(expression: string, kind: string): boolean {
    const { session, id } = this.#parts;
    const nodegroups: Value | undefined = session.opts['nodegroups'];
    const target = parseTarget(expression, kind, {
      lenient: true,
      nodegroups: asDict(nodegroups),
    });
    return matchesTarget(target, { id, grains: session.grains, pillar: session.pillar }) === 'match';
  }
}
