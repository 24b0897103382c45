// Files and rendering of a state run on a minion: the file client and the render pipeline of that run.
import type { Value } from '../../base/codec/value.ts';
import { type RenderHost, renderFile, renderText } from '../render/index.ts';
import type { StateSession } from './run/session.ts';
import type { SlsRenderer, StateFiles } from './sources.ts';

/** The tree as the minion's file client sees it. */
export function clientFiles(session: StateSession): StateFiles {
  const { files } = session.context();
  return {
    envs: () => files.envs(),
    fileList: (saltenv) => files.list('files', saltenv),
    cacheFile: async (url, saltenv) => (await files.cacheFile(url, { saltenv })) || undefined,
  };
}

/** What rendering needs, with grains, pillar and modules as they are at this moment of the run. */
export function renderHost(session: StateSession): RenderHost {
  const context = session.context();
  return {
    loader: session.loader,
    log: session.log,
    opts: session.opts,
    grains: session.grains,
    pillar: session.pillar,
    signal: session.signal,
    files: {
      async cacheFile(url, saltenv) {
        const path = await context.files.cacheFile(url, { saltenv });
        return path === '' ? undefined : { path };
      },
    },
    functions: {
      modules: async () => new Set(await session.loader.names('modules')),
      has: async (fun) => (await session.loader.find('modules', fun)) !== undefined,
      call: (fun, args, kwargs) => context.callWith(fun, args, kwargs),
    },
    exec: (file, args, options) => context.exec(file, args, options),
  };
}

/** The render pipeline of the run. */
export function pipelineRenderer(session: StateSession): SlsRenderer {
  return {
    render: ({ path, saltenv, sls, context }): Promise<Value> =>
      renderFile(renderHost(session), path, { saltenv, sls, ...(context ? { context } : {}) }),
    renderText: (text) => (text.trim() === '' ? Promise.resolve(null) : renderText(renderHost(session), text)),
  };
}
